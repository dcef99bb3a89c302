import { shift, type Lch } from '../colour/oklch.ts'
import type { Pen } from '../drawing/pen.ts'
import { circle, el, ellipse, group, line, path, short, smooth, type Point } from '../drawing/svg.ts'

/** Mirrors half of an outline, from top to foot, as for turned pottery or wood. */
export function turned(
  pen: Pen,
  x: number,
  base: number,
  size: number,
  profile: readonly Point[],
  colour: Lch,
  depth: number,
): string {
  const side = (sign: -1 | 1): Point[] => profile.map(([u, v]): Point => [x + sign * u * size, base - v * size])
  const right = smooth(side(1))
  const left = smooth(side(-1).reverse()).replace('M', 'L')
  const outline = `${right}${left}Z`
  const clip = pen.name()
  const away = pen.light.side === -1 ? 1 : -1
  return [
    el('clipPath', { id: clip }, path(outline, '#000')),
    path(outline, pen.tint(colour, depth)),
    group(
      { 'clip-path': `url(#${clip})`, stroke: 'none' },
      ellipse(x + away * size * 0.42, base - size * 0.45, size * 0.34, size * 0.9, pen.tint(shift(colour, -0.1), depth), {
        opacity: 0.75,
      }),
      ellipse(x + away * size * 0.56, base - size * 0.4, size * 0.3, size * 0.9, pen.tint(shift(colour, -0.18), depth), {
        opacity: 0.7,
      }),
      ellipse(x - away * size * 0.16, base - size * 0.62, size * 0.045, size * 0.2, pen.tint(shift(colour, 0.16, 0.6), depth), {
        opacity: 0.7,
      }),
    ),
  ].join('')
}

export const VASE: readonly Point[] = [
  [0.14, 1],
  [0.11, 0.9],
  [0.13, 0.8],
  [0.22, 0.66],
  [0.3, 0.48],
  [0.31, 0.34],
  [0.26, 0.16],
  [0.17, 0.03],
  [0.16, 0],
]
export const JUG: readonly Point[] = [
  [0.18, 0.98],
  [0.14, 0.86],
  [0.17, 0.72],
  [0.27, 0.54],
  [0.34, 0.34],
  [0.32, 0.16],
  [0.23, 0.02],
  [0.22, 0],
]
export const BOTTLE: readonly Point[] = [
  [0.055, 1.1],
  [0.054, 0.9],
  [0.06, 0.78],
  [0.13, 0.68],
  [0.16, 0.58],
  [0.165, 0.4],
  [0.165, 0.06],
  [0.155, 0.01],
  [0.14, 0],
]
export const BOWL: readonly Point[] = [
  [0.5, 0.36],
  [0.48, 0.26],
  [0.42, 0.15],
  [0.32, 0.07],
  [0.2, 0.03],
  [0.17, 0],
]

export function fruit(
  pen: Pen,
  x: number,
  base: number,
  size: number,
  kind: 'apple' | 'orange' | 'pear' | 'lemon',
  depth: number,
): string {
  const { random } = pen
  const colours: Record<typeof kind, Lch> = {
    apple: random.pick<Lch>([
      [0.58, 0.19, 27],
      [0.72, 0.15, 125],
    ]),
    orange: [0.74, 0.16, 60],
    pear: [0.78, 0.13, 110],
    lemon: [0.88, 0.16, 98],
  }
  const colour = colours[kind]
  const away = pen.light.side === -1 ? 1 : -1
  const r = size / 2
  const y = base - r * 0.95
  const s = short
  const outline =
    kind === 'pear'
      ? `M${s(x)} ${s(y - r * 1.5)}C${s(x + r * 0.5)} ${s(y - r * 1.5)} ${s(x + r * 0.4)} ${s(y - r * 0.6)} ${s(x + r * 0.85)} ${s(y - r * 0.1)}C${s(x + r * 1.2)} ${s(y + r * 0.6)} ${s(x + r * 0.7)} ${s(y + r)} ${s(x)} ${s(y + r * 0.95)}C${s(x - r * 0.7)} ${s(y + r)} ${s(x - r * 1.2)} ${s(y + r * 0.6)} ${s(x - r * 0.85)} ${s(y - r * 0.1)}C${s(x - r * 0.4)} ${s(y - r * 0.6)} ${s(x - r * 0.5)} ${s(y - r * 1.5)} ${s(x)} ${s(y - r * 1.5)}Z`
      : kind === 'lemon'
        ? `M${s(x - r * 1.3)} ${s(y + r * 0.2)}C${s(x - r * 0.9)} ${s(y - r * 1.05)} ${s(x + r * 0.9)} ${s(y - r * 1.05)} ${s(x + r * 1.3)} ${s(y + r * 0.1)}C${s(x + r * 0.9)} ${s(y + r * 1.1)} ${s(x - r * 0.9)} ${s(y + r * 1.15)} ${s(x - r * 1.3)} ${s(y + r * 0.2)}Z`
        : `M${s(x)} ${s(y - r * 0.82)}C${s(x + r * 0.6)} ${s(y - r * 1.15)} ${s(x + r * 1.12)} ${s(y - r * 0.5)} ${s(x + r)} ${s(y + r * 0.1)}C${s(x + r * 0.9)} ${s(y + r * 0.8)} ${s(x + r * 0.4)} ${s(y + r)} ${s(x)} ${s(y + r * 0.93)}C${s(x - r * 0.4)} ${s(y + r)} ${s(x - r * 0.9)} ${s(y + r * 0.8)} ${s(x - r)} ${s(y + r * 0.1)}C${s(x - r * 1.12)} ${s(y - r * 0.5)} ${s(x - r * 0.6)} ${s(y - r * 1.15)} ${s(x)} ${s(y - r * 0.82)}Z`
  const clip = pen.name()
  const stalk =
    kind === 'apple' || kind === 'pear'
      ? line(
          `M${s(x)} ${s(y - r * (kind === 'pear' ? 1.45 : 0.78))}q${s(r * 0.06)} ${s(-r * 0.3)} ${s(r * 0.24)} ${s(-r * 0.42)}`,
          pen.tint([0.32, 0.05, 60], depth),
          r * 0.09,
        )
      : ''
  return [
    el('clipPath', { id: clip }, path(outline, '#000')),
    path(outline, pen.tint(colour, depth)),
    group(
      { 'clip-path': `url(#${clip})`, stroke: 'none' },
      circle(x + away * r * 0.8, y + r * 0.55, r * 1.02, pen.tint(shift(colour, -0.1), depth), { opacity: 0.72 }),
      ellipse(x - away * r * 0.36, y - r * 0.36, r * 0.22, r * 0.16, pen.tint(shift(colour, 0.16, 0.6), depth), {
        opacity: 0.85,
      }),
    ),
    stalk,
  ].join('')
}

/** An object on a table darkens it on the side away from the light. */
export function tableShadow(pen: Pen, x: number, base: number, width: number, depth: number): string {
  const away = pen.light.side === -1 ? 1 : -1
  return ellipse(x + away * width * 0.42, base - width * 0.015, width * 0.66, width * 0.085, pen.tint([0.16, 0.03, 290], depth), {
    opacity: 0.32,
    stroke: 'none',
  })
}
