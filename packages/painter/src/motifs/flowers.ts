import { shift, type Lch } from '../colour/oklch.ts'
import type { Pen } from '../drawing/pen.ts'
import { circle, ellipse, group, line, path, short, smooth, type Point } from '../drawing/svg.ts'

export const KINDS = ['poppy', 'daisy', 'tulip', 'lavender', 'cosmos', 'cornflower', 'sunflower'] as const
export type Kind = (typeof KINDS)[number]
export type Flower = { x: number; y: number; stem: number; size: number; depth: number; colour: Lch; kind: Kind }

export const PETALS: Record<Kind, readonly Lch[]> = {
  poppy: [
    [0.6, 0.21, 28],
    [0.66, 0.19, 35],
    [0.56, 0.2, 20],
  ],
  daisy: [
    [0.97, 0.01, 95],
    [0.96, 0.02, 80],
  ],
  tulip: [
    [0.64, 0.2, 15],
    [0.8, 0.15, 80],
    [0.7, 0.15, 350],
    [0.55, 0.14, 320],
  ],
  lavender: [
    [0.58, 0.13, 300],
    [0.63, 0.12, 290],
  ],
  cosmos: [
    [0.74, 0.14, 345],
    [0.84, 0.08, 350],
    [0.64, 0.17, 350],
  ],
  cornflower: [
    [0.55, 0.16, 265],
    [0.6, 0.14, 255],
  ],
  sunflower: [
    [0.82, 0.16, 85],
    [0.79, 0.16, 75],
  ],
}

/** A flower on its stem; `y` is the foot. */
export function flower(pen: Pen, { x, y, stem, size, depth, colour, kind }: Flower): string {
  const { random } = pen
  const green: Lch = [0.46, 0.1, 138]
  const lean = random.around(0, stem * 0.16)
  const top: Point = [x + lean, y - stem]
  const s = short
  const stalk = line(
    `M${s(x)} ${s(y)}Q${s(x + lean * 0.1)} ${s(y - stem * 0.55)} ${s(top[0])} ${s(top[1])}`,
    pen.tint(green, depth),
    Math.max(0.8, size * 0.09),
  )
  const leaf = stem > size * 1.6 ? leaves(pen, x + lean * 0.2, y - stem * 0.3, size, depth, green) : ''
  return group({}, stalk, leaf, head(pen, top, { size, depth, colour, kind }))
}

function leaves(pen: Pen, x: number, y: number, size: number, depth: number, green: Lch): string {
  const s = short
  return ([-1, 1] as const)
    .map((side) => {
      const reach = size * pen.random.between(0.6, 1.1) * side
      const drop = size * pen.random.between(0.4, 0.9)
      return path(
        `M${s(x)} ${s(y)}Q${s(x + reach * 0.4)} ${s(y - drop)} ${s(x + reach)} ${s(y - drop * 1.1)}Q${s(x + reach * 0.7)} ${s(y - drop * 0.2)} ${s(x)} ${s(y)}Z`,
        pen.tint(shift(green, side * pen.light.side * 0.04), depth),
      )
    })
    .join('')
}

export function head(
  pen: Pen,
  [x, y]: Point,
  { size, depth, colour, kind }: Pick<Flower, 'size' | 'depth' | 'colour' | 'kind'>,
): string {
  const tone = (lift: number): string => pen.tint(shift(colour, lift), depth)
  const eye = (own: Lch, share: number): string => circle(x, y, size * share, pen.tint(own, depth))
  if (kind === 'poppy')
    return (
      petals(pen, x, y, size, 4, 0.62, tone(-0.06)) +
      petals(pen, x, y + size * 0.05, size * 0.82, 3, 0.6, tone(0.03)) +
      eye([0.25, 0.03, 300], 0.13)
    )
  if (kind === 'daisy') return rays(x, y, size, 13, 0.14, tone(-0.05), pen) + eye([0.8, 0.16, 85], 0.22)
  if (kind === 'cosmos') return petals(pen, x, y, size, 8, 0.36, tone(0)) + eye([0.8, 0.15, 85], 0.14)
  if (kind === 'cornflower') return rays(x, y, size, 9, 0.2, tone(0.02), pen) + rays(x, y, size * 0.55, 7, 0.2, tone(-0.12), pen)
  if (kind === 'sunflower')
    return (
      rays(x, y, size * 1.3, 17, 0.24, tone(-0.05), pen) +
      rays(x, y, size * 1.12, 15, 0.24, tone(0.02), pen) +
      eye([0.32, 0.06, 50], 0.29) +
      eye([0.42, 0.08, 60], 0.16)
    )
  if (kind === 'tulip') return tulip(x, y, size, tone)
  return lavender(pen, x, y, size, tone)
}

function petals(pen: Pen, x: number, y: number, size: number, count: number, width: number, fill: string): string {
  const start = pen.random.between(0, 6.28)
  const drawn = Array.from({ length: count }, (_, index) => {
    const angle = start + (index / count) * 6.2832
    const reach = size * 0.54 * pen.random.between(0.88, 1.12)
    const points = (
      [
        [0, 0],
        [0.45, width * 0.72],
        [0.86, width * 0.92],
        [1, 0.1],
        [0.9, -width * 0.86],
        [0.45, -width * 0.72],
      ] as const
    ).map(([u, v]): Point => [
      x + Math.cos(angle) * u * reach - Math.sin(angle) * v * reach,
      y + (Math.sin(angle) * u * reach + Math.cos(angle) * v * reach) * 0.88,
    ])
    return path(smooth(points, true), fill)
  })
  return drawn.join('')
}

function rays(x: number, y: number, size: number, count: number, width: number, fill: string, pen: Pen): string {
  const start = pen.random.between(0, 1)
  let d = ''
  for (let ray = 0; ray < count; ray++) {
    const angle = start + (ray / count) * 6.2832
    const reach = size * 0.52 * pen.random.between(0.9, 1.1)
    const [cos, sin] = [Math.cos(angle), Math.sin(angle) * 0.9]
    const half = reach * width
    d += `M${short(x)} ${short(y)}Q${short(x + cos * reach * 0.6 - sin * half)} ${short(y + sin * reach * 0.6 + cos * half)} ${short(x + cos * reach)} ${short(y + sin * reach)}Q${short(x + cos * reach * 0.6 + sin * half)} ${short(y + sin * reach * 0.6 - cos * half)} ${short(x)} ${short(y)}Z`
  }
  return path(d, fill)
}

function tulip(x: number, y: number, size: number, tone: (lift: number) => string): string {
  const s = short
  const half = size * 0.34
  const tall = size * 0.78
  const outer = (side: number): string =>
    `M${s(x)} ${s(y + tall * 0.2)}C${s(x + side * half * 1.3)} ${s(y + tall * 0.2)} ${s(x + side * half * 1.25)} ${s(y - tall * 0.4)} ${s(x + side * half * 0.86)} ${s(y - tall * 0.72)}C${s(x + side * half * 0.5)} ${s(y - tall * 0.5)} ${s(x)} ${s(y - tall * 0.3)} ${s(x)} ${s(y + tall * 0.2)}Z`
  const inner = `M${s(x - half * 0.6)} ${s(y - tall * 0.2)}Q${s(x)} ${s(y - tall * 1.25)} ${s(x + half * 0.6)} ${s(y - tall * 0.2)}Q${s(x)} ${s(y + tall * 0.5)} ${s(x - half * 0.6)} ${s(y - tall * 0.2)}Z`
  return path(inner, tone(-0.07)) + path(outer(-1), tone(0.02)) + path(outer(1), tone(-0.02))
}

function lavender(pen: Pen, x: number, y: number, size: number, tone: (lift: number) => string): string {
  return Array.from({ length: 13 }, (_, index) => {
    const t = index / 12
    const half = size * (0.06 + 0.1 * Math.sin(Math.PI * Math.min(1, t * 1.15 + 0.1)))
    return ellipse(
      x + (index % 2 === 0 ? -1 : 1) * half * 0.8,
      y + size * (t * 1.25 - 0.5),
      half,
      half * 0.9,
      tone(pen.random.around(0, 0.06)),
      { stroke: 'none' },
    )
  }).join('')
}
