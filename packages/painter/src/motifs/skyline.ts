import { shift, type Lch } from '../colour/oklch.ts'
import type { Pen } from '../drawing/pen.ts'
import type { Glow } from '../drawing/picture.ts'
import { circle, path, rect, straight } from '../drawing/svg.ts'
import { together, type Drawn } from './drawn.ts'

const FRONTS: readonly Lch[] = [
  [0.5, 0.04, 265],
  [0.54, 0.05, 240],
  [0.58, 0.05, 30],
  [0.48, 0.05, 290],
  [0.62, 0.035, 70],
  [0.5, 0.045, 200],
]

export type Skyline = { from: number; to: number; base: number; height: number; depth: number; peak: number }

/** Towers of a large city, the highest ones around `peak`. */
export function skyline(pen: Pen, { from, to, base, height, depth, peak }: Skyline): Drawn {
  const { random } = pen
  const towers: Drawn[] = []
  for (let x = from; x < to;) {
    const width = height * random.between(0.13, 0.27)
    const away = Math.abs(x + width / 2 - peak) / (to - from)
    const tall = height * Math.max(0.22, (1 - away * 1.25) * random.between(0.55, 1))
    towers.push(tower(pen, x, base, width, tall, depth))
    x += width * random.between(0.82, 1.12)
  }
  return together(...towers)
}

/** One tower, with its roof and its windows. */
function tower(pen: Pen, x: number, base: number, width: number, height: number, depth: number): Drawn {
  const { random } = pen
  const front = random.pick(FRONTS)
  const top = base - height
  const dark = pen.light.side === -1 ? x + width * 0.62 : x
  const windows = panes(pen, x, base, width, height, depth, front)
  const body = [
    crown(pen, x, top, width, depth, front),
    rect(x, top, width, height + 2, pen.tint(front, depth)),
    rect(dark, top, width * 0.38, height + 2, pen.tint(shift(front, -0.06), depth), { stroke: 'none' }),
    windows.body,
  ]
  return { body: body.join(''), glows: windows.glows }
}

function crown(pen: Pen, x: number, top: number, width: number, depth: number, front: Lch): string {
  const { random } = pen
  const fill = pen.tint(shift(front, -0.03), depth)
  const kind = random.whole(0, 5)
  if (kind === 0)
    return (
      rect(x + width * 0.22, top - width * 0.22, width * 0.56, width * 0.24, fill) +
      rect(x + width * 0.38, top - width * 0.4, width * 0.24, width * 0.2, fill)
    )
  if (kind === 1)
    return path(
      straight([
        [x, top + 1],
        [x + width, top + 1],
        [x + width, top - width * 0.3],
      ]),
      fill,
    )
  if (kind === 2)
    return (
      path(
        straight([
          [x + width * 0.12, top + 1],
          [x + width * 0.88, top + 1],
          [x + width / 2, top - width * 0.7],
        ]),
        fill,
      ) + rect(x + width * 0.485, top - width * 1.05, width * 0.03, width * 0.4, fill)
    )
  if (kind === 3) return circle(x + width / 2, top + width * 0.06, width * 0.4, fill)
  if (kind === 4)
    return (
      rect(x + width * 0.6, top - width * 0.8, width * 0.03, width * 0.8, fill, { stroke: 'none' }) +
      rect(x + width * 0.15, top - width * 0.1, width * 0.3, width * 0.12, fill)
    )
  return ''
}

function panes(pen: Pen, x: number, base: number, width: number, height: number, depth: number, front: Lch): Drawn {
  const { random, light } = pen
  const columns = Math.max(2, Math.round(width / 11))
  const rows = Math.max(3, Math.round(height / 13))
  const cellX = (width * 0.84) / columns
  const cellY = (height * 0.95) / rows
  const wide = random.chance(0.3)
  const glass = pen.tint(shift(front, light.lit ? -0.09 : 0.1, 0.8), depth)
  const lamps = [shift(light.lamp, 0.03), shift(light.lamp, -0.05), shift(light.lamp, -0.12, 1.05)].map((lamp) => pen.pure(lamp))
  const glows: Glow[] = []
  const parts: string[] = []
  for (let row = 0; row < rows; row++) {
    const floorLit = random.chance(0.6)
    for (let column = 0; column < columns; column++) {
      const lit = light.lit && random.chance(floorLit ? 0.5 : 0.14)
      if (!lit && light.lit && depth < 0.4) continue
      const left = x + width * 0.08 + cellX * (column + 0.2)
      const topY = base - height + height * 0.035 + cellY * (row + 0.2)
      parts.push(
        rect(left, topY, cellX * (wide ? 0.95 : 0.55), cellY * 0.52, lit ? random.pick(lamps) : glass, { stroke: 'none' }),
      )
      if (lit && random.chance(0.14)) glows.push({ x: left + 2, y: topY + 2, radius: 34, colour: light.lamp, strength: 0.16 })
    }
  }
  return { body: parts.join(''), glows }
}
