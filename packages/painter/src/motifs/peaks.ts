import { shift, type Lch } from '../colour/oklch.ts'
import { gradient, type Pen } from '../drawing/pen.ts'
import { el, group, path, straight, type Point } from '../drawing/svg.ts'
import { roughen } from '../drawing/terrain.ts'

export type Range = {
  depth: number
  /** The height of its foot, and the height of its highest peak above the foot. */
  base: number
  height: number
  /** Where the highest peak stands. */
  peak: number
  colour: Lch
  /** How far the snow reaches down from the highest peak, as a share of the height. */
  snow: number
}

/** A mountain range with lit flanks, shaded flanks, and snow whose lower edge has tongues. */
export function peaks(pen: Pen, range: Range): string {
  const edge = skyline(pen, range)
  const shape = `${straight(edge, false)}L${pen.frame.width + 90} ${range.base + 200}L-90 ${range.base + 200}Z`
  const lit = shift(range.colour, 0.06)
  const body = gradient(pen, { x1: 0, y1: range.base - range.height, x2: 0, y2: range.base }, [
    [0, pen.tint(lit, range.depth)],
    [1, pen.tint(lit, range.depth * 0.55)],
  ])
  const rock = path(shape, pen.hand.flat ? pen.tint(lit, range.depth) : body.fill)
  const shadow = shadows(pen, range, edge)
  const clip = pen.name()
  return [
    el('clipPath', { id: clip }, path(shape, '#000')),
    body.defs,
    rock,
    group(
      { 'clip-path': `url(#${clip})`, stroke: 'none' },
      path(shadow, pen.tint(shift(range.colour, -0.07, 1.2, 6), range.depth)),
      snow(pen, range, shadow),
    ),
  ].join('')
}

/** Overlapping peaks of several sizes, from the left edge to the right. */
function skyline(pen: Pen, { base, height, peak }: Range): Point[] {
  const { random, frame } = pen
  const spacing = height * random.between(0.5, 0.62)
  const line: Point[] = []
  const first = peak - Math.ceil((peak + 90) / spacing) * spacing
  for (let x = first; x < frame.width + spacing * 1.5; x += spacing) {
    const main = Math.abs(x - peak) < 1
    const away = Math.abs(x - peak) / frame.width
    const rise = main ? 1 : Math.max(0.3, random.between(0.62, 0.86) - away * 0.5)
    const top: Point = [main ? x : x + random.around(0, spacing * 0.2), base - height * rise]
    const last = line.at(-1)
    if (last)
      line.push([
        last[0] + (top[0] - last[0]) * random.between(0.42, 0.58),
        Math.max(last[1], top[1]) + height * random.between(0.1, 0.24),
      ])
    line.push(top)
  }
  return pen.hand.angular ? line : roughen(random, line, 0.17, 7)
}

type Summit = { top: Point; fall: readonly Point[]; end: Point; drop: number }

/** Every point above its neighbours has a shaded flank on the side away from the light. */
function summitsOf(pen: Pen, range: Range, edge: readonly Point[]): Summit[] {
  const toRight = pen.light.side === -1
  const line = toRight ? edge : [...edge].reverse()
  return line.flatMap((top, index): Summit[] => {
    const before = line[index - 1]
    const after = line[index + 1]
    if (!before || !after || before[1] <= top[1] || after[1] <= top[1]) return []
    let lowest = { at: index + 1, point: after }
    // Small notches on the way down belong to the same flank. A rise starts the next mountain.
    for (const [step, point] of line.slice(index + 2).entries()) {
      if (point[1] < lowest.point[1] - range.height * 0.02) break
      if (point[1] > lowest.point[1]) lowest = { at: index + 2 + step, point }
    }
    const fall = line.slice(index, lowest.at + 1)
    const drop = lowest.point[1] - top[1]
    return drop > range.height * 0.025 ? [{ top, fall, end: lowest.point, drop }] : []
  })
}

function shadows(pen: Pen, range: Range, edge: readonly Point[]): string {
  const { random } = pen
  return summitsOf(pen, range, edge)
    .map(({ top, fall, end, drop }) => {
      const across = end[0] - top[0]
      const bottom = Math.min(range.base + 20, end[1] + drop * random.between(0.5, 1.3) + range.height * 0.08)
      const foot: Point = [top[0] + across * random.between(0.55, 0.95), bottom]
      const middle: Point = [top[0] + across * random.between(0.02, 0.22), top[1] + (bottom - top[1]) * 0.42]
      const spine = pen.hand.angular ? [top, middle, foot] : roughen(random, [top, middle, foot], 0.17, 9)
      return straight([...fall, ...[...spine].reverse()])
    })
    .join('')
}

function snow(pen: Pen, range: Range, shadow: string): string {
  if (range.snow <= 0.02) return ''
  const { random, frame } = pen
  const level = range.base - range.height * (1 - range.snow)
  const width = pen.hand.angular ? 52 : 15
  const count = Math.ceil((frame.width + 180) / width)
  const tongues = Array.from({ length: count + 1 }, (_, index): Point => {
    const x = frame.width + 90 - index * width
    const reach = range.height * range.snow * random.between(0.04, pen.hand.angular ? 0.2 : 0.3)
    return [
      x + random.around(0, width * 0.3),
      level + (index % 2 === 0 ? -reach : reach) + range.height * 0.05 * Math.sin(x / 61),
    ]
  })
  const cap = straight([[-90, -50], [frame.width + 90, -50], ...tongues])
  const clip = pen.name()
  return [
    el('clipPath', { id: clip }, path(cap, '#000')),
    path(cap, pen.tint([0.985, 0.014, 85], range.depth + 0.12)),
    group({ 'clip-path': `url(#${clip})` }, path(shadow, pen.tint([0.79, 0.06, 262], range.depth))),
  ].join('')
}

/** A far range: one rough edge, no flanks. */
export function farRidge(pen: Pen, y: number, height: number, colour: Lch, depth: number): string {
  const { random, frame } = pen
  const count = pen.hand.angular ? 7 : 11
  const points = Array.from({ length: count + 1 }, (_, index): Point => [
    -40 + ((frame.width + 80) * index) / count + (index % count === 0 ? 0 : random.around(0, 30)),
    y - height * (index % 2 === 0 ? random.between(0.25, 0.55) : random.between(0.6, 1)),
  ])
  const edge = pen.hand.angular ? points : roughen(random, points, 0.15, 7)
  return path(`${straight(edge, false)}L${frame.width + 60} ${frame.height}L-60 ${frame.height}Z`, pen.tint(colour, depth))
}
