import { shift, type Lch } from '../colour/oklch.ts'
import type { Pen } from '../drawing/pen.ts'
import type { Glow } from '../drawing/picture.ts'
import { path, rect, straight, type Point } from '../drawing/svg.ts'
import type { Drawn } from './drawn.ts'

export const WALLS: readonly Lch[] = [
  [0.62, 0.11, 35],
  [0.72, 0.09, 70],
  [0.66, 0.07, 20],
  [0.78, 0.05, 85],
  [0.6, 0.06, 230],
  [0.68, 0.06, 170],
  [0.58, 0.09, 15],
  [0.83, 0.03, 80],
  [0.63, 0.06, 280],
]
const ROOFS: readonly Lch[] = [
  [0.42, 0.07, 35],
  [0.38, 0.05, 260],
  [0.46, 0.09, 40],
  [0.36, 0.04, 20],
]

export type House = {
  x: number
  base: number
  width: number
  height: number
  depth: number
  wall?: Lch
  snow?: boolean
  gable?: 'step' | 'bell' | 'point' | 'side'
}

/** A narrow town house, seen from the street: gable, rows of windows, a door. */
export function house(pen: Pen, given: House): Drawn {
  const { random } = pen
  const { x, base, width, height, depth } = given
  const wall = given.wall ?? random.pick(WALLS)
  const roof = random.pick(ROOFS)
  const gable = pen.hand.angular ? 'point' : (given.gable ?? random.pick(['step', 'bell', 'point', 'point', 'side'] as const))
  const eaves = base - height
  const rise = width * (gable === 'side' ? 0.42 : random.between(0.5, 0.72))
  const front = gableOutline(gable, x, eaves, width, rise)
  const shadowLeft = pen.light.side === 1
  const edge = width * 0.2
  const windows = windowRows(pen, { ...given, wall })
  const parts = [
    gable === 'side'
      ? path(
          straight([
            [x - 3, eaves],
            [x + width * 0.12, eaves - rise],
            [x + width * 0.88, eaves - rise],
            [x + width + 3, eaves],
          ]),
          pen.tint(roof, depth),
        )
      : '',
    path(straight([...front, [x + width, base], [x, base]]), pen.tint(wall, depth)),
    rect(shadowLeft ? x : x + width - edge, eaves, edge, height, pen.tint(shift(wall, -0.07), depth), {
      stroke: 'none',
      opacity: 0.6,
    }),
    gable === 'point'
      ? path(
          straight([
            [x - width * 0.05, eaves + 2],
            [x + width / 2, eaves - rise - width * 0.05],
            [x + width * 1.05, eaves + 2],
            [x + width * 1.05, eaves - width * 0.09],
            [x + width / 2, eaves - rise - width * 0.17],
            [x - width * 0.05, eaves - width * 0.09],
          ]),
          pen.tint(given.snow ? [0.95, 0.015, 240] : roof, depth),
        )
      : '',
    given.snow && gable !== 'point'
      ? path(
          straight([
            ...front.slice(1, -1).map(([px, py]): Point => [px, py - 3]),
            ...front
              .slice(1, -1)
              .reverse()
              .map(([px, py]): Point => [px, py + 4]),
          ]),
          pen.tint([0.95, 0.015, 240], depth),
        )
      : '',
    random.chance(0.6)
      ? rect(
          x + width * random.pick([0.16, 0.72]),
          eaves - rise * 0.85,
          width * 0.1,
          rise * 0.75,
          pen.tint(shift(roof, -0.03), depth),
        )
      : '',
    windows.body,
  ]
  // A chimney stands behind the gable.
  const chimney = parts.splice(5, 1)
  return { body: [...chimney, ...parts].join(''), glows: windows.glows }
}

function gableOutline(gable: string, x: number, eaves: number, width: number, rise: number): Point[] {
  const at = (u: number, v: number): Point => [x + width * u, eaves - rise * v]
  if (gable === 'step') {
    const steps: Point[] = [
      at(0, 0),
      at(0, 0.2),
      at(0.14, 0.2),
      at(0.14, 0.48),
      at(0.27, 0.48),
      at(0.27, 0.76),
      at(0.39, 0.76),
      at(0.39, 1),
    ]
    return [...steps, ...steps.map(([px, py]): Point => [2 * x + width - px, py]).reverse()]
  }
  if (gable === 'bell') {
    const curve: Point[] = [
      at(0, 0),
      at(0.02, 0.16),
      at(0.11, 0.32),
      at(0.21, 0.4),
      at(0.29, 0.56),
      at(0.31, 0.8),
      at(0.38, 0.96),
      at(0.5, 1.02),
    ]
    return [
      ...curve,
      ...curve
        .slice(0, -1)
        .map(([px, py]): Point => [2 * x + width - px, py])
        .reverse(),
    ]
  }
  if (gable === 'point') return [at(0, 0), at(0.5, 1), at(1, 0)]
  return [at(0, 0), at(1, 0)]
}

function windowRows(pen: Pen, { x, base, width, height, depth, wall = [0.6, 0.05, 50] }: House): Drawn {
  const { random, light } = pen
  const columns = width > 62 ? 3 : width > 30 ? 2 : 1
  const rows = Math.max(1, Math.round(height / Math.max(24, width * 0.62)))
  const cell = width / (columns + 0.35)
  const level = height / (rows + 0.12)
  const glows: Glow[] = []
  const parts: string[] = []
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const left = x + cell * (column + 0.4)
      const top = base - level * (row + 1) + level * 0.26
      const isDoor = row === 0 && column === columns - 1
      const tall = isDoor ? level * 0.74 : level * 0.5
      const lit = light.lit && random.chance(isDoor ? 0.2 : 0.58)
      parts.push(window(pen, { left, top, width: cell * 0.55, height: tall, depth, lit, door: isDoor, wall }))
      if (lit && !isDoor)
        glows.push({
          x: left + cell * 0.27,
          y: top + tall / 2,
          radius: cell * 1.7,
          colour: light.lamp,
          strength: 0.2 + depth * 0.14,
        })
    }
  }
  return { body: parts.join(''), glows }
}

type Pane = { left: number; top: number; width: number; height: number; depth: number; lit: boolean; door: boolean; wall: Lch }

export function window(pen: Pen, { left, top, width, height, depth, lit, door, wall }: Pane): string {
  const glass = lit
    ? pen.pure(shift(pen.light.lamp, pen.random.between(-0.09, 0.04)))
    : pen.tint(door ? [0.36, 0.06, 35] : [0.4, 0.035, 245], depth)
  const frame = pen.tint(shift(wall, lit ? -0.2 : 0.14, 0.6), depth)
  const bar = Math.max(0.7, width * 0.09)
  return [
    rect(left - bar, top - bar, width + bar * 2, height + bar * 2, frame, { stroke: 'none' }),
    rect(left, top, width, height, glass, { stroke: 'none' }),
    door || width < 4
      ? ''
      : rect(left + width / 2 - bar / 2, top, bar, height, frame, { stroke: 'none' }) +
        rect(left, top + height * 0.42, width, bar, frame, { stroke: 'none' }),
  ].join('')
}
