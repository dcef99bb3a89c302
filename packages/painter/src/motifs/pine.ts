import { shift, type Lch } from '../colour/oklch.ts'
import type { Pen } from '../drawing/pen.ts'
import { path, straight, type Point } from '../drawing/svg.ts'

const PINE: Lch = [0.38, 0.055, 160]

export type Pine = { x: number; y: number; height: number; depth: number; colour?: Lch; snow?: boolean }

/** A conifer with tiers of drooping branches, darker on the side away from the light. */
export function pine(pen: Pen, { x, y, height, depth, colour = PINE, snow = false }: Pine): string {
  const { random } = pen
  if (pen.hand.angular) return angularPine(pen, { x, y, height, depth, colour, snow })
  const tiers = Math.max(5, Math.min(14, Math.round(height / 16)))
  const width = height * random.between(0.19, 0.26)
  const lean = random.around(0, height * 0.012)
  const side = (sign: -1 | 1): Point[] =>
    Array.from({ length: tiers }, (_, tier): Point[] => {
      const t = (tier + 1) / tiers
      const reach = width * t ** 0.85 * random.between(0.78, 1.12)
      const level = y - height * (1 - t * 0.93)
      return [
        [x + lean * (1 - t) + sign * reach, level + height * 0.018],
        [x + lean * (1 - t) + sign * reach * random.between(0.38, 0.52), level - height * 0.008],
      ]
    }).flat()
  const left = side(-1)
  const right = side(1)
  const tip: Point = [x + lean, y - height]
  const dark = pen.light.side === -1 ? right : left
  const trunk = straight([
    [x - height * 0.014, y - height * 0.1],
    [x + height * 0.014, y - height * 0.1],
    [x + height * 0.018, y],
    [x - height * 0.018, y],
  ])
  const parts = [
    path(trunk, pen.tint([0.32, 0.03, 50], depth)),
    path(straight([tip, ...right, ...[...left].reverse()]), pen.tint(colour, depth)),
    path(
      straight([tip, ...dark, [x, y - height * 0.06], [x + (x - (dark[4]?.[0] ?? x)) * 0.2, y - height * 0.5]]),
      pen.tint(shift(colour, -0.06), depth),
      { stroke: 'none' },
    ),
  ]
  if (snow) parts.push(snowOn(pen, left, right, tip, height, depth))
  return parts.join('')
}

function snowOn(pen: Pen, left: Point[], right: Point[], tip: Point, height: number, depth: number): string {
  const caps = [left, right].flatMap((side) =>
    side
      .filter((_, index) => index % 2 === 0)
      .map(([x, y]): string => {
        const middle = tip[0] + (x - tip[0]) * 0.35
        return straight([
          [x, y],
          [middle, y - height * 0.045],
          [tip[0] + (x - tip[0]) * 0.12, y - height * 0.03],
          [tip[0] + (x - tip[0]) * 0.5, y - height * 0.004],
        ])
      }),
  )
  const crown = straight([
    tip,
    [tip[0] + height * 0.03, tip[1] + height * 0.09],
    [tip[0], tip[1] + height * 0.075],
    [tip[0] - height * 0.03, tip[1] + height * 0.09],
  ])
  return path(caps.join('') + crown, pen.tint([0.96, 0.015, 240], depth), { stroke: 'none' })
}

function angularPine(pen: Pen, { x, y, height, depth, colour, snow }: Required<Pine>): string {
  const width = height * 0.24
  const tier = (index: number, half: -1 | 0 | 1): string => {
    const top = y - height + height * 0.25 * index
    const reach = width * (0.55 + index * 0.225)
    const bottom = top + height * 0.42
    return straight(
      half === 0
        ? [
            [x, top],
            [x + reach, bottom],
            [x - reach, bottom],
          ]
        : [
            [x, top],
            [x + reach * half, bottom],
            [x, bottom],
          ],
    )
  }
  const tiers = [2, 1, 0]
  const half = pen.light.side === -1 ? 1 : -1
  const tip = straight([
    [x, y - height],
    [x + width * 0.24, y - height * 0.82],
    [x - width * 0.24, y - height * 0.82],
  ])
  return [
    path(
      straight([
        [x - height * 0.025, y - height * 0.1],
        [x + height * 0.025, y - height * 0.1],
        [x + height * 0.025, y],
        [x - height * 0.025, y],
      ]),
      pen.tint([0.32, 0.03, 50], depth),
    ),
    ...tiers.map(
      (index) =>
        path(tier(index, 0), pen.tint(colour, depth)) +
        path(tier(index, half), pen.tint(shift(colour, -0.07), depth), { stroke: 'none' }),
    ),
    snow ? path(tip, pen.tint([0.96, 0.015, 240], depth), { stroke: 'none' }) : '',
  ].join('')
}
