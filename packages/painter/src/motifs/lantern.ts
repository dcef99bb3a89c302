import { shift, type Lch } from '../colour/oklch.ts'
import type { Pen } from '../drawing/pen.ts'
import type { Glow } from '../drawing/picture.ts'
import { ellipse, group, line, path, rect, short } from '../drawing/svg.ts'
import type { Drawn } from './drawn.ts'

export const PAPERS: readonly Lch[] = [
  [0.76, 0.16, 55],
  [0.7, 0.18, 35],
  [0.84, 0.14, 82],
  [0.66, 0.19, 22],
  [0.78, 0.12, 15],
]

/** A round paper lantern with its ribs. `y` is its middle. */
export function lantern(pen: Pen, x: number, y: number, size: number, colour: Lch, depth: number): Drawn {
  const lit = pen.light.time !== 'day'
  const skin = lit ? pen.pure(shift(colour, 0.06)) : pen.tint(colour, depth)
  const heart = lit ? pen.pure([0.95, 0.1, 88]) : pen.tint(shift(colour, 0.08), depth)
  const rib = lit ? pen.pure(shift(colour, -0.1, 1.05, -8)) : pen.tint(shift(colour, -0.12), depth)
  const wide = size * 0.5
  const tall = size * 0.46
  const ribs = [-0.62, -0.24, 0.16, 0.54].map((t) => {
    const half = wide * Math.sqrt(1 - t * t)
    return line(
      `M${short(x - half)} ${short(y + tall * t)}Q${short(x)} ${short(y + tall * (t + 0.15))} ${short(x + half)} ${short(y + tall * t)}`,
      rib,
      Math.max(0.5, size * 0.014),
      { opacity: 0.75 },
    )
  })
  const end = pen.tint([0.25, 0.03, 30], depth)
  const body = group(
    {},
    ellipse(x, y, wide, tall, skin),
    ellipse(x, y + tall * 0.16, wide * 0.62, tall * 0.62, heart, { opacity: lit ? 0.75 : 0.35, stroke: 'none' }),
    ...ribs,
    rect(x - wide * 0.36, y - tall * 1.07, wide * 0.72, tall * 0.15, end),
    rect(x - wide * 0.36, y + tall * 0.93, wide * 0.72, tall * 0.13, end),
    line(`M${short(x)} ${short(y + tall)}V${short(y + tall * 1.6)}`, rib, Math.max(0.5, size * 0.03)),
  )
  return { body, glows: lit ? [{ x, y, radius: size * 1.7, colour, strength: 0.5 + depth * 0.12 }] : [] }
}

/** A paper balloon with a flame, rising in the night. */
export function skyLantern(pen: Pen, x: number, y: number, size: number, depth: number): Drawn {
  const colour: Lch = [0.76 + pen.random.around(0, 0.05), 0.15, 60 + pen.random.around(0, 12)]
  const s = short
  const skin = `M${s(x - size * 0.3)} ${s(y + size * 0.5)}Q${s(x - size * 0.52)} ${s(y - size * 0.1)} ${s(x - size * 0.3)} ${s(y - size * 0.42)}Q${s(x)} ${s(y - size * 0.62)} ${s(x + size * 0.3)} ${s(y - size * 0.42)}Q${s(x + size * 0.52)} ${s(y - size * 0.1)} ${s(x + size * 0.3)} ${s(y + size * 0.5)}Z`
  const tone = (lift: number, chroma = 1): string => pen.pure(shift(colour, lift, chroma))
  const body =
    path(skin, tone(0)) +
    ellipse(x, y + size * 0.26, size * 0.27, size * 0.28, tone(0.16, 0.8), { stroke: 'none', opacity: 0.85 }) +
    ellipse(x, y + size * 0.5, size * 0.3, size * 0.07, tone(0.2, 0.6), { stroke: 'none' }) +
    (size > 16
      ? line(
          `M${s(x - size * 0.1)} ${s(y + size * 0.46)}Q${s(x - size * 0.2)} ${s(y - size * 0.1)} ${s(x - size * 0.1)} ${s(y - size * 0.5)}M${s(x + size * 0.12)} ${s(y + size * 0.46)}Q${s(x + size * 0.2)} ${s(y - size * 0.1)} ${s(x + size * 0.1)} ${s(y - size * 0.5)}`,
          tone(-0.1),
          size * 0.014,
          { opacity: 0.6 },
        )
      : '')
  const glow: Glow = { x, y: y + size * 0.2, radius: size * 1.9, colour, strength: 0.38 + depth * 0.2 }
  return { body, glows: [glow] }
}

/** A hanging cord between two points, with objects at even distances. */
export function garland(
  from: readonly [number, number],
  to: readonly [number, number],
  sag: number,
  count: number,
): { cord: string; at: Array<readonly [number, number]> } {
  const middle = [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2 + sag * 2] as const
  const point = (t: number): readonly [number, number] => [
    (1 - t) ** 2 * from[0] + 2 * t * (1 - t) * middle[0] + t * t * to[0],
    (1 - t) ** 2 * from[1] + 2 * t * (1 - t) * middle[1] + t * t * to[1],
  ]
  return {
    cord: `M${short(from[0])} ${short(from[1])}Q${short(middle[0])} ${short(middle[1])} ${short(to[0])} ${short(to[1])}`,
    at: Array.from({ length: count }, (_, index) => point((index + 0.5) / count)),
  }
}
