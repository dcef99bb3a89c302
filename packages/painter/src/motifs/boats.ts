import { shift, type Lch } from '../colour/oklch.ts'
import type { Pen } from '../drawing/pen.ts'
import { circle, el, group, line, path, rect, short, straight, type Point } from '../drawing/svg.ts'
import { unlit, type Drawn } from './drawn.ts'

const HULLS: readonly Lch[] = [
  [0.48, 0.14, 28],
  [0.42, 0.09, 245],
  [0.9, 0.02, 85],
  [0.5, 0.08, 170],
  [0.62, 0.13, 60],
  [0.35, 0.04, 260],
]
const SAILS: readonly Lch[] = [
  [0.95, 0.02, 85],
  [0.95, 0.02, 85],
  [0.68, 0.15, 42],
  [0.85, 0.09, 80],
]

export type Boat = { x: number; y: number; size: number; depth: number; colour?: Lch }

/** A floating object, with its mirror image below it in styles whose water reflects. */
export function afloat(pen: Pen, y: number, thing: Drawn): Drawn {
  if (pen.hand.water === 'strips' && !pen.hand.angular) return thing
  const opacity = pen.hand.water === 'mirror' ? 0.42 : 0.22
  const mirrored = el('g', { transform: `translate(0 ${short(y * 1.82)}) scale(1 -0.82)`, opacity, stroke: 'none' }, thing.body)
  return {
    body: mirrored + thing.body,
    glows: thing.glows.flatMap((glow) => [glow, { ...glow, y: y + (y - glow.y) * 0.82, strength: glow.strength * 0.5 }]),
  }
}

function hull(pen: Pen, { x, y, size, depth }: Boat, colour: Lch, length: number, freeboard: number): string {
  const s = short
  const left = x - length / 2
  const right = x + length / 2
  const low = y + freeboard * 0.1
  const shape = `M${s(left)} ${s(y - freeboard)}Q${s(x)} ${s(y - freeboard * 0.55)} ${s(right)} ${s(y - freeboard * 1.15)}Q${s(right - length * 0.06)} ${s(low)} ${s(right - length * 0.16)} ${s(low)}H${s(left + length * 0.12)}Q${s(left + length * 0.02)} ${s(low)} ${s(left)} ${s(y - freeboard)}Z`
  const strake = `M${s(left + length * 0.012)} ${s(y - freeboard * 0.8)}Q${s(x)} ${s(y - freeboard * 0.36)} ${s(right - length * 0.012)} ${s(y - freeboard * 0.94)}`
  return (
    path(shape, pen.tint(colour, depth)) +
    line(strake, pen.tint(shift(colour, colour[0] > 0.7 ? -0.3 : 0.24), depth), Math.max(0.6, size * 0.022), { opacity: 0.85 })
  )
}

export function sailboat(pen: Pen, boat: Boat): Drawn {
  const { x, y, size, depth } = boat
  const { random } = pen
  const sail = random.pick(SAILS)
  const facing = pen.light.side
  const mast = y - size
  const main: readonly [Point, Point, Point] = [
    [x - facing * size * 0.015, mast + size * 0.03],
    [x - facing * size * 0.46, y - size * 0.2],
    [x - facing * size * 0.015, y - size * 0.17],
  ]
  const jib: readonly [Point, Point, Point] = [
    [x + facing * size * 0.025, mast + size * 0.1],
    [x + facing * size * 0.36, y - size * 0.15],
    [x + facing * size * 0.03, y - size * 0.18],
  ]
  const curve = ([a, b, c]: readonly [Point, Point, Point], bulge: number): string => {
    return `M${short(a[0])} ${short(a[1])}Q${short((a[0] + b[0]) / 2 + bulge)} ${short((a[1] + b[1]) / 2 - size * 0.02)} ${short(b[0])} ${short(b[1])}L${short(c[0])} ${short(c[1])}Z`
  }
  const body = [
    rect(x - size * 0.012, mast, size * 0.024, size * 0.9, pen.tint([0.35, 0.04, 60], depth)),
    path(curve(main, -facing * size * 0.07), pen.tint(shift(sail, -0.08), depth)),
    path(curve(jib, facing * size * 0.05), pen.tint(sail, depth)),
    hull(pen, boat, boat.colour ?? random.pick(HULLS), size * 0.78, size * 0.13),
  ]
  return afloat(pen, y, unlit(body.join('')))
}

/** A small wooden boat, oars in. */
export function rowboat(pen: Pen, boat: Boat): Drawn {
  const { x, y, size, depth } = boat
  const colour = boat.colour ?? pen.random.pick(HULLS)
  const inside = path(
    `M${short(x - size * 0.47)} ${short(y - size * 0.15)}Q${short(x)} ${short(y - size * 0.045)} ${short(x + size * 0.48)} ${short(y - size * 0.175)}Q${short(x)} ${short(y - size * 0.2)} ${short(x - size * 0.47)} ${short(y - size * 0.15)}Z`,
    pen.tint([0.3, 0.05, 45], depth),
  )
  const bench =
    rect(x - size * 0.2, y - size * 0.15, size * 0.05, size * 0.05, pen.tint([0.62, 0.07, 65], depth)) +
    rect(x + size * 0.14, y - size * 0.155, size * 0.05, size * 0.05, pen.tint([0.62, 0.07, 65], depth))
  const oar = line(
    `M${short(x - size * 0.05)} ${short(y - size * 0.17)}L${short(x + size * 0.5)} ${short(y - size * 0.02)}`,
    pen.tint([0.6, 0.08, 65], depth),
    size * 0.018,
  )
  return afloat(pen, y, unlit(inside + bench + hull(pen, boat, colour, size, size * 0.15) + oar))
}

/** A fishing boat with a wheelhouse, two masts and a lamp. */
export function trawler(pen: Pen, boat: Boat): Drawn {
  const { x, y, size, depth } = boat
  const colour = boat.colour ?? pen.random.pick(HULLS)
  const wood = pen.tint([0.32, 0.03, 55], depth)
  const white: Lch = [0.93, 0.02, 85]
  const lit = pen.light.lit
  const s = short
  const body = [
    rect(x - size * 0.2, y - size * 0.74, size * 0.02, size * 0.6, wood),
    rect(x + size * 0.22, y - size * 0.6, size * 0.018, size * 0.5, wood),
    line(
      `M${s(x - size * 0.48)} ${s(y - size * 0.2)}L${s(x - size * 0.19)} ${s(y - size * 0.73)}L${s(x + size * 0.23)} ${s(y - size * 0.59)}L${s(x + size * 0.5)} ${s(y - size * 0.24)}`,
      wood,
      size * 0.007,
    ),
    rect(x - size * 0.12, y - size * 0.42, size * 0.24, size * 0.28, pen.tint(white, depth)),
    rect(
      pen.light.side === 1 ? x - size * 0.12 : x + size * 0.02,
      y - size * 0.42,
      size * 0.1,
      size * 0.28,
      pen.tint(shift(white, -0.1), depth),
      { stroke: 'none' },
    ),
    rect(x - size * 0.15, y - size * 0.45, size * 0.3, size * 0.035, pen.tint(colour, depth)),
    ...[-0.08, 0.02].map((dx) =>
      rect(
        x + size * dx,
        y - size * 0.37,
        size * 0.07,
        size * 0.075,
        lit ? pen.pure(pen.light.lamp) : pen.tint([0.4, 0.04, 240], depth),
        { stroke: 'none' },
      ),
    ),
    hull(pen, boat, colour, size, size * 0.19),
    circle(x - size * 0.19, y - size * 0.72, size * 0.022, lit ? pen.pure([0.96, 0.08, 88]) : wood),
  ]
  const glows = lit
    ? [
        { x: x - size * 0.19, y: y - size * 0.72, radius: size * 0.55, colour: pen.light.lamp, strength: 0.6 },
        { x, y: y - size * 0.33, radius: size * 0.4, colour: pen.light.lamp, strength: 0.3 },
      ]
    : []
  return afloat(pen, y, { body: body.join(''), glows })
}

/** Folded from a sheet of paper. */
export function paperBoat(pen: Pen, { x, y, size, depth, colour = [0.93, 0.03, 85] }: Boat): Drawn {
  const at = (u: number, v: number): Point => [x + size * u, y - size * v]
  const body = group(
    {},
    path(straight([at(0, 0.72), at(0.24, 0.2), at(-0.24, 0.2)]), pen.tint(shift(colour, -0.03), depth)),
    path(straight([at(0, 0.72), at(pen.light.side * -0.24, 0.2), at(0, 0.2)]), pen.tint(shift(colour, -0.13), depth), {
      stroke: 'none',
    }),
    path(straight([at(-0.5, 0.34), at(0, 0.2), at(0.5, 0.34), at(0.3, 0), at(-0.3, 0)]), pen.tint(colour, depth)),
    path(
      straight([at(0, 0.2), at(pen.light.side * -0.5, 0.34), at(pen.light.side * -0.3, 0), at(0, 0)]),
      pen.tint(shift(colour, -0.09), depth),
      { stroke: 'none' },
    ),
  )
  return afloat(pen, y, unlit(body))
}
