import type { Lch } from '../colour/oklch.ts'
import { shift } from '../colour/oklch.ts'
import type { Pen } from '../drawing/pen.ts'
import { circle, path, rect, straight } from '../drawing/svg.ts'
import { together, unlit, type Drawn } from './drawn.ts'
import { house, WALLS } from './houses.ts'

export type Row = { from: number; to: number; base: number; height: number; depth: number; snow: boolean }

/** Houses shoulder to shoulder. */
export function row(pen: Pen, { from, to, base, height, depth, snow }: Row): Drawn {
  const { random } = pen
  const houses: Drawn[] = []
  let last: Lch | undefined
  for (let x = from; x < to - height * 0.25;) {
    const width = height * random.between(0.42, 0.68)
    const wall = random.pick(WALLS.filter((colour) => colour !== last))
    last = wall
    houses.push(
      house(pen, { x, base, width: Math.min(width, to - x), height: height * random.between(0.74, 1.12), depth, wall, snow }),
    )
    x += width
  }
  return together(...houses)
}

/** A church or town hall tower with a clock. */
export function spire(pen: Pen, x: number, base: number, height: number, depth: number): Drawn {
  const width = height * 0.17
  const stone: Lch = [0.66, 0.035, 70]
  const cap: Lch = [0.55, 0.07, 175]
  const top = base - height * 0.66
  const dark = pen.light.side === 1 ? x - width / 2 : x
  const clock = pen.light.lit ? pen.pure([0.93, 0.06, 90]) : pen.tint([0.93, 0.03, 90], depth)
  const body = [
    rect(x - width / 2, top, width, base - top, pen.tint(stone, depth)),
    rect(dark, top, width / 2, base - top, pen.tint(shift(stone, -0.07), depth), { stroke: 'none' }),
    rect(x - width * 0.6, top - height * 0.02, width * 1.2, height * 0.025, pen.tint(shift(stone, 0.05), depth)),
    path(
      straight([
        [x - width * 0.56, top - height * 0.018],
        [x - width * 0.3, top - height * 0.16],
        [x, base - height],
        [x + width * 0.3, top - height * 0.16],
        [x + width * 0.56, top - height * 0.018],
      ]),
      pen.tint(cap, depth),
    ),
    path(
      straight([
        [x, base - height],
        [x + (dark < x ? -1 : 1) * width * 0.3, top - height * 0.16],
        [x + (dark < x ? -1 : 1) * width * 0.56, top - height * 0.018],
        [x, top - height * 0.018],
      ]),
      pen.tint(shift(cap, -0.08), depth),
      { stroke: 'none' },
    ),
    circle(x, top + height * 0.1, width * 0.3, clock),
    rect(x - width * 0.025, top + height * 0.065, width * 0.05, height * 0.036, pen.tint([0.2, 0.02, 40], depth), {
      stroke: 'none',
    }),
    rect(x, top + height * 0.096, width * 0.19, width * 0.05, pen.tint([0.2, 0.02, 40], depth), { stroke: 'none' }),
  ].join('')
  return pen.light.lit
    ? { body, glows: [{ x, y: top + height * 0.1, radius: width * 1.3, colour: pen.light.lamp, strength: 0.35 }] }
    : unlit(body)
}

/** Street lamps along a quay, at even distances. */
export function lamps(pen: Pen, from: number, to: number, base: number, height: number, depth: number, step = 105): Drawn {
  const things: Drawn[] = []
  for (let x = from + step / 2; x < to; x += step) {
    const post = pen.tint([0.25, 0.02, 250], depth)
    const bulb = pen.light.lit ? pen.pure([0.95, 0.08, 88]) : pen.tint([0.9, 0.02, 90], depth)
    const body =
      rect(x - height * 0.018, base - height, height * 0.036, height, post) +
      path(
        straight([
          [x - height * 0.08, base - height * 0.98],
          [x + height * 0.08, base - height * 0.98],
          [x + height * 0.055, base - height * 1.16],
          [x - height * 0.055, base - height * 1.16],
        ]),
        bulb,
      )
    things.push(
      pen.light.lit
        ? { body, glows: [{ x, y: base - height * 1.07, radius: height * 1.25, colour: pen.light.lamp, strength: 0.62 }] }
        : unlit(body),
    )
  }
  return together(...things)
}
