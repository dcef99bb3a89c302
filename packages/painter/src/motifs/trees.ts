import { shift, type Lch } from '../colour/oklch.ts'
import type { Pen } from '../drawing/pen.ts'
import { circle, group, line, path, short, smooth, straight, type Point } from '../drawing/svg.ts'

export const LEAVES: readonly Lch[] = [
  [0.5, 0.1, 138],
  [0.46, 0.09, 150],
  [0.55, 0.11, 125],
]
export const AUTUMN: readonly Lch[] = [
  [0.62, 0.15, 50],
  [0.68, 0.14, 75],
  [0.54, 0.15, 35],
  [0.6, 0.13, 62],
]
const BARK: Lch = [0.34, 0.04, 50]

export type Tree = { x: number; y: number; height: number; depth: number; leaf?: Lch; snow?: boolean }

/** A round tree: trunk, forked boughs, and a crown of many small clumps that is lit on one side. */
export function broadleaf(pen: Pen, { x, y, height, depth, leaf = pen.random.pick(LEAVES), snow = false }: Tree): string {
  const { random } = pen
  const crown = height * 0.34
  const middle = y - height * 0.64
  const trunk = pen.tint(BARK, depth)
  const fork = `M${short(x - height * 0.035)} ${short(y)}Q${short(x - height * 0.012)} ${short(y - height * 0.25)} ${short(x - height * 0.015)} ${short(y - height * 0.6)}H${short(x + height * 0.015)}Q${short(x + height * 0.012)} ${short(y - height * 0.25)} ${short(x + height * 0.035)} ${short(y)}Z`
  const boughs = [-1, 1].map((side) =>
    line(
      `M${short(x)} ${short(y - height * 0.34)}Q${short(x + side * height * 0.03)} ${short(y - height * 0.46)} ${short(x + side * height * 0.17)} ${short(y - height * 0.58)}`,
      trunk,
      height * 0.02,
    ),
  )
  if (pen.hand.angular) {
    const half =
      pen.light.side === -1
        ? `A${short(crown)} ${short(crown * 1.08)} 0 0 1 ${short(x)} ${short(middle + crown * 1.08)}`
        : `A${short(crown)} ${short(crown * 1.08)} 0 0 0 ${short(x)} ${short(middle + crown * 1.08)}`
    return (
      path(fork, trunk) +
      `<ellipse cx="${short(x)}" cy="${short(middle)}" rx="${short(crown)}" ry="${short(crown * 1.08)}" fill="${pen.tint(leaf, depth)}"/>` +
      path(`M${short(x)} ${short(middle - crown * 1.08)}${half}Z`, pen.tint(shift(leaf, -0.07), depth), { stroke: 'none' })
    )
  }
  const clumps = (count: number, spread: number, size: number, dx: number, dy: number): string =>
    Array.from({ length: count }, () => {
      const turn = random.between(0, 6.283)
      const out = Math.sqrt(random.next()) * crown * spread
      return leafClump(
        pen,
        x + dx + Math.cos(turn) * out * 1.06,
        middle + dy + Math.sin(turn) * out,
        crown * size * random.between(0.7, 1.2),
      )
    }).join('')
  const side = pen.light.side
  return [
    path(fork, trunk),
    ...boughs,
    path(clumps(15, 0.82, 0.36, 0, 0), pen.tint(shift(leaf, -0.07, 1, 6), depth)),
    path(clumps(13, 0.66, 0.26, side * crown * 0.14, -crown * 0.14), pen.tint(leaf, depth), { stroke: 'none' }),
    path(
      clumps(11, 0.46, 0.17, side * crown * 0.3, -crown * 0.32),
      pen.tint(snow ? [0.96, 0.01, 240] : shift(leaf, 0.075, 1.05, -8), depth),
      { stroke: 'none' },
    ),
  ].join('')
}

/** A ragged little cloud of leaves. */
export function leafClump(pen: Pen, x: number, y: number, radius: number): string {
  const { random } = pen
  const points = Array.from({ length: 9 }, (_, index): Point => {
    const angle = (index / 9) * 6.2832
    const reach = radius * random.between(0.72, 1.15)
    return [x + Math.cos(angle) * reach, y + Math.sin(angle) * reach * 0.86]
  })
  return smooth(points, true)
}

/** A slender, flame-shaped tree: cypress or poplar. */
export function poplar(pen: Pen, { x, y, height, depth, leaf = [0.42, 0.08, 145] }: Tree): string {
  const half = height * 0.13
  const s = short
  const outline = `M${s(x)} ${s(y - height)}C${s(x + half * 1.1)} ${s(y - height * 0.62)} ${s(x + half * 1.25)} ${s(y - height * 0.2)} ${s(x + half * 0.25)} ${s(y - height * 0.04)}H${s(x - half * 0.25)}C${s(x - half * 1.25)} ${s(y - height * 0.2)} ${s(x - half * 1.1)} ${s(y - height * 0.62)} ${s(x)} ${s(y - height)}Z`
  const away = pen.light.side === -1 ? 1 : -1
  const dark = `M${s(x)} ${s(y - height)}C${s(x + away * half * 1.1)} ${s(y - height * 0.62)} ${s(x + away * half * 1.25)} ${s(y - height * 0.2)} ${s(x + away * half * 0.25)} ${s(y - height * 0.04)}H${s(x)}C${s(x + away * half * 0.45)} ${s(y - height * 0.3)} ${s(x + away * half * 0.3)} ${s(y - height * 0.7)} ${s(x)} ${s(y - height)}Z`
  return (
    path(
      straight([
        [x - height * 0.014, y],
        [x + height * 0.014, y],
        [x + height * 0.014, y - height * 0.08],
        [x - height * 0.014, y - height * 0.08],
      ]),
      pen.tint(BARK, depth),
    ) +
    path(outline, pen.tint(leaf, depth)) +
    path(dark, pen.tint(shift(leaf, -0.065), depth), { stroke: 'none' })
  )
}

export type Bough = { from: Point; angle: number; length: number; width: number }

/** A branch that forks down to twigs. Returns its strokes and the ends of the twigs. */
export function branch(pen: Pen, bough: Bough, forks: number, colour: string): { body: string; ends: Point[] } {
  const { random } = pen
  const { from, angle, length, width } = bough
  const bend = random.around(0, 0.35)
  const middle: Point = [from[0] + Math.cos(angle + bend) * length * 0.5, from[1] + Math.sin(angle + bend) * length * 0.5]
  const to: Point = [from[0] + Math.cos(angle) * length, from[1] + Math.sin(angle) * length]
  const own = line(
    `M${short(from[0])} ${short(from[1])}Q${short(middle[0])} ${short(middle[1])} ${short(to[0])} ${short(to[1])}`,
    colour,
    width,
  )
  if (forks === 0) return { body: own, ends: [to, middle] }
  const grown = Array.from({ length: random.chance(0.3) ? 3 : 2 }, (_, index) => {
    const turn = (index % 2 === 0 ? -1 : 1) * random.between(0.18, 0.62)
    const start: Point = index === 2 ? middle : to
    return branch(
      pen,
      { from: start, angle: angle + turn, length: length * random.between(0.6, 0.82), width: width * 0.66 },
      forks - 1,
      colour,
    )
  })
  return {
    body: own + grown.map(({ body }) => body).join(''),
    ends: [...(forks < 3 ? [middle] : []), ...grown.flatMap(({ ends }) => ends)],
  }
}

/** A bare tree, or a tree with the given leaves or blossoms on its twigs. */
export function branching(pen: Pen, { x, y, height, depth }: Tree, dress?: (ends: readonly Point[]) => string): string {
  const colour = pen.tint([0.27, 0.035, 45], depth)
  const { body, ends } = branch(
    pen,
    { from: [x, y], angle: -Math.PI / 2 + pen.random.around(0, 0.15), length: height * 0.32, width: height * 0.055 },
    5,
    colour,
  )
  return group({ stroke: 'none' }, body) + (dress ? dress(ends) : '')
}

/** Single leaves or petals, scattered around the twigs. */
export function dabs(
  pen: Pen,
  ends: readonly Point[],
  colours: readonly Lch[],
  size: number,
  each: number,
  depth: number,
): string {
  const { random } = pen
  return ends
    .flatMap(([x, y]) =>
      Array.from({ length: each }, () =>
        circle(
          x + random.around(0, size * 3.4),
          y + random.around(0, size * 3.2),
          size * random.between(0.5, 1.1),
          pen.tint(shift(random.pick(colours), random.around(0, 0.05)), depth),
          { stroke: 'none', opacity: 0.94 },
        ),
      ),
    )
    .join('')
}

export function palm(pen: Pen, { x, y, height, depth }: Tree): string {
  const { random } = pen
  const lean = random.around(0, height * 0.22)
  const top: Point = [x + lean, y - height]
  const s = short
  const trunk = `M${s(x - height * 0.03)} ${s(y)}Q${s(x + lean * 0.2)} ${s(y - height * 0.5)} ${s(top[0] - height * 0.014)} ${s(top[1])}H${s(top[0] + height * 0.014)}Q${s(x + lean * 0.3 + height * 0.03)} ${s(y - height * 0.5)} ${s(x + height * 0.03)} ${s(y)}Z`
  const fronds = Array.from({ length: 9 }, (_, index) => {
    const angle = Math.PI * (0.92 + (index / 8) * 1.16)
    const length = height * random.between(0.36, 0.48)
    const end: Point = [top[0] + Math.cos(angle) * length, top[1] + Math.sin(angle) * length * 0.45 + length * 0.34]
    const lift: Point = [top[0] + Math.cos(angle) * length * 0.55, top[1] + Math.sin(angle) * length * 0.75 - length * 0.16]
    return `M${s(top[0])} ${s(top[1])}Q${s(lift[0])} ${s(lift[1])} ${s(end[0])} ${s(end[1])}Q${s(lift[0])} ${s(lift[1] + length * 0.16)} ${s(top[0])} ${s(top[1] + 2)}Z`
  })
  return path(trunk, pen.tint([0.45, 0.06, 60], depth)) + path(fronds.join(''), pen.tint([0.42, 0.09, 145], depth))
}
