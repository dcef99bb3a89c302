import { mix, shift, type Lch } from '../colour/oklch.ts'
import { skyAt } from '../motifs/skies.ts'
import { shade, withChance, type Pen } from './pen.ts'
import { addShapes, type Stage } from './stage.ts'
import { ellipse, group, line, path, rect, short, smooth, type Point } from './svg.ts'

/**
 * Water from `top` down, in the manner of the style: a mirror, sheets of paper, carved waves, or a few brush strokes.
 */
export function addWater(stage: Stage, top: number, bottom = stage.pen.frame.height): void {
  const way = stage.pen.hand.water
  if (way === 'mirror') stage.plates.push({ kind: 'water', top, bottom })
  if (way === 'strips') addStrips(stage, top, bottom)
  if (way === 'waves') addWaves(stage, top, bottom)
  if (way === 'strokes') addStrokes(stage, top, bottom)
}

export function waterColour(stage: Stage, along: number): Lch {
  const { light } = stage.pen
  const mirrored = skyAt(light.sky, 0.82 - along * 0.75)
  const own: Lch = light.time === 'day' ? [0.58, 0.1, 228] : mix(light.sky[0] ?? light.haze, light.dark, 0.3)
  return mix(mirrored, own, 0.3 + along * 0.4)
}

function addStrips(stage: Stage, top: number, bottom: number): void {
  const pen = withChance(stage.pen, 'strips')
  const count = Math.max(3, Math.min(5, Math.round((bottom - top) / 84)))
  for (let strip = 0; strip < count; strip++) {
    const t = strip / count
    const y = top + (bottom - top) * t ** 1.25
    const colour = pen.pure(waterColour(stage, t))
    const edge =
      strip === 0 || pen.hand.angular
        ? `M-20 ${short(y)}H${short(pen.frame.width + 20)}`
        : smooth(ripples(pen, y, 2 + t * 9, 44 + t * 120))
    const sheet = path(`${edge}V${short(pen.frame.height + 20)}H-20Z`, colour)
    addShapes(stage, 0.5 + t * 0.34, sheet + glitter(stage, pen, y, t, (bottom - top) / count))
  }
}

function ripples(pen: Pen, y: number, height: number, length: number): Point[] {
  const points: Point[] = []
  const phase = pen.random.between(0, length)
  for (let x = -40 - phase; x < pen.frame.width + length; x += length / 2) {
    points.push([x, y + (points.length % 2 === 0 ? height : -height) * pen.random.between(0.6, 1.1)])
  }
  return points
}

/** The reflection of the light on the water: short bars below the sun or moon, wider in the foreground. */
function glitter(stage: Stage, pen: Pen, y: number, t: number, room: number): string {
  if (!stage.body.shown) return ''
  const { random } = pen
  const colour = pen.pure(mix(pen.light.face, waterColour(stage, t), 0.15 + t * 0.25))
  const bars = Array.from({ length: 3 + Math.round(t * 2) }, () => {
    const width = stage.body.radius * (0.5 + t * 1.1) * random.between(0.4, 1.25)
    const height = 2.4 + t * 3.4
    const x = stage.body.x + random.around(0, stage.body.radius * (0.35 + t * 0.9)) - width / 2
    return rect(x, y + 9 + random.between(0, Math.max(4, room * 0.72)), width, height, colour, { rx: height / 2, stroke: 'none' })
  })
  return bars.join('')
}

function addWaves(stage: Stage, top: number, bottom: number): void {
  const pen = withChance(stage.pen, 'waves')
  const { frame } = pen
  const fill = shade({ ...pen, hand: { ...pen.hand, flat: false } }, top, bottom, [
    [0, pen.pure(waterColour(stage, 0.05))],
    [0.3, pen.pure(waterColour(stage, 0.35))],
    [1, pen.pure(shift(waterColour(stage, 1), -0.04, 1.15))],
  ])
  const marks: string[] = []
  for (let y = top + 7; y < bottom + 20; y += 5 + ((y - top) / (bottom - top)) * 30)
    marks.push(waveRow(stage, pen, y, (y - top) / (bottom - top)))
  addShapes(
    stage,
    0.6,
    fill.defs +
      rect(-10, top, frame.width + 20, frame.height - top + 10, fill.fill) +
      glitter(stage, pen, top, 0.5, bottom - top) +
      group({ fill: 'none' }, ...marks),
  )
}

function waveRow(stage: Stage, pen: Pen, y: number, t: number): string {
  const { random, frame } = pen
  const length = 26 + t * 110
  const height = 1.2 + t * 15
  const pale = pen.pure(mix(waterColour(stage, t), [0.95, 0.02, 200], 0.62))
  const dark = pen.pure(shift(waterColour(stage, t), -0.14))
  let crests = ''
  let under = ''
  for (let x = -length * random.next(); x < frame.width + length; x += length * random.between(0.9, 1.7)) {
    if (random.chance(0.2)) continue
    const s = short
    const lean = length * 0.16
    crests += `M${s(x)} ${s(y)}Q${s(x + length * 0.3 + lean)} ${s(y - height * 1.5)} ${s(x + length * 0.55)} ${s(y - height * 0.3)}Q${s(x + length * 0.75)} ${s(y + height * 0.35)} ${s(x + length)} ${s(y)}`
    under += `M${s(x + length * 0.12)} ${s(y + height * 0.5)}Q${s(x + length * 0.36)} ${s(y - height * 0.6)} ${s(x + length * 0.62)} ${s(y + height * 0.3)}`
  }
  return line(under, dark, 0.6 + t * 1.4, { opacity: 0.7 }) + line(crests, pale, 0.8 + t * 2.4)
}

function addStrokes(stage: Stage, top: number, bottom: number): void {
  const pen = withChance(stage.pen, 'strokes')
  const { random, frame } = pen
  const marks = Array.from({ length: 46 }, () => {
    const t = random.next() ** 1.3
    const y = top + 6 + (bottom - top) * t
    const width = (30 + t * 190) * random.between(0.4, 1)
    const tone = pen.pure([0.72 - t * 0.2, 0, 0])
    return ellipse(random.between(-40, frame.width), y, width / 2, 0.6 + t * 1.5, tone, { opacity: 0.35 })
  })
  stage.plates.push({ kind: 'shapes', depth: 0.5, flat: true, body: marks.join('') })
}
