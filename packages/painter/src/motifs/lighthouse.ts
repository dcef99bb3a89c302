import { shift, type Lch } from '../colour/oklch.ts'
import { gradient, type Pen } from '../drawing/pen.ts'
import { path, rect, straight, type Point } from '../drawing/svg.ts'
import { roughen } from '../drawing/terrain.ts'
import type { Drawn } from './drawn.ts'

/** A banded tower with gallery and lantern, and with a beam at night. */
export function lighthouse(pen: Pen, x: number, base: number, height: number, depth: number): Drawn {
  const white: Lch = [0.95, 0.015, 85]
  const red: Lch = pen.random.pick([
    [0.53, 0.17, 28],
    [0.53, 0.17, 28],
    [0.38, 0.09, 250],
  ])
  const half = (t: number): number => height * (0.105 - 0.045 * t)
  const at = (t: number): number => base - height * 0.8 * t
  const band = (from: number, to: number, colour: Lch, side: -1 | 0 | 1): string => {
    const left = side === 1 ? 0.1 : -1
    const right = side === -1 ? -0.1 : 1
    const points: Point[] = [
      [x + half(from) * left, at(from)],
      [x + half(from) * right, at(from)],
      [x + half(to) * right, at(to)],
      [x + half(to) * left, at(to)],
    ]
    return path(straight(points), pen.tint(colour, depth), side === 0 ? {} : { stroke: 'none' })
  }
  const away = pen.light.side === -1 ? 1 : -1
  const bands = [0, 1, 2, 3, 4].map((index) => {
    const colour = index % 2 === 0 ? white : red
    return band(index / 5, (index + 1) / 5, colour, 0) + band(index / 5, (index + 1) / 5, shift(colour, -0.1), away)
  })
  const top = at(1)
  const room = height * 0.052
  const lamp = pen.light.lit ? pen.pure([0.97, 0.09, 90]) : pen.tint([0.75, 0.04, 220], depth)
  const dark: Lch = [0.3, 0.03, 250]
  const body = [
    pen.light.lit ? beam(pen, x, top - height * 0.06, height * 4.4) : '',
    ...bands,
    rect(x - room * 1.7, top - height * 0.012, room * 3.4, height * 0.022, pen.tint(dark, depth)),
    rect(x - room, top - height * 0.11, room * 2, height * 0.1, lamp),
    rect(x - room * 0.08, top - height * 0.11, room * 0.16, height * 0.1, pen.tint(dark, depth), { stroke: 'none' }),
    path(
      straight([
        [x - room * 1.35, top - height * 0.105],
        [x, top - height * 0.2],
        [x + room * 1.35, top - height * 0.105],
      ]),
      pen.tint(red, depth),
    ),
    ...[0.2, 0.55].map((t) =>
      rect(x - height * 0.012, at(t) - height * 0.05, height * 0.024, height * 0.045, pen.tint(dark, depth), { stroke: 'none' }),
    ),
  ]
  const glows = pen.light.lit ? [{ x, y: top - height * 0.06, radius: height * 0.75, colour: pen.light.lamp, strength: 0.9 }] : []
  return { body: body.join(''), glows }
}

function beam(pen: Pen, x: number, y: number, length: number): string {
  if (pen.hand.outline) return ''
  const way = pen.light.side
  const fill = gradient(pen, { x1: x, y1: y, x2: x + way * length, y2: y }, [
    [0, pen.pure([0.95, 0.08, 90]), 0.6],
    [1, pen.pure([0.95, 0.08, 90]), 0],
  ])
  return (
    fill.defs +
    path(
      straight([
        [x, y - 3],
        [x + way * length, y - length * 0.16],
        [x + way * length, y + length * 0.02],
        [x, y + 3],
      ]),
      fill.fill,
      { stroke: 'none' },
    )
  )
}

/** A rocky island or headland that ends at the water. */
export function rocks(pen: Pen, x: number, base: number, width: number, height: number, depth: number): string {
  const stone: Lch = [0.42, 0.025, 60]
  const rough: Point[] = [
    [x - width / 2, base],
    [x - width * 0.34, base - height * 0.55],
    [x - width * 0.08, base - height],
    [x + width * 0.12, base - height * 0.95],
    [x + width * 0.33, base - height * 0.5],
    [x + width / 2, base],
  ]
  const edge = pen.hand.angular ? rough : roughen(pen.random, rough, 0.16, 6)
  const spine: Point[] = [
    [x, base - height],
    [x + width * 0.03, base - height * 0.5],
    [x - width * 0.04, base],
  ]
  const dark = pen.light.side === -1 ? edge.filter(([px]) => px > x) : edge.filter(([px]) => px < x).reverse()
  return (
    path(straight(edge), pen.tint(stone, depth)) +
    path(straight([...dark, ...[...spine].reverse()]), pen.tint(shift(stone, -0.08), depth), { stroke: 'none' })
  )
}
