import { shift, type Lch } from '../colour/oklch.ts'
import type { Pen } from '../drawing/pen.ts'
import { circle, ellipse, group, line, path, rect, short, straight, type Point } from '../drawing/svg.ts'
import { window } from './houses.ts'
import type { Drawn } from './drawn.ts'

/** A cottage with a pitched roof, seen slightly from the side. It has smoke if it is cold or dark. */
export function cottage(pen: Pen, x: number, base: number, size: number, depth: number, snow = false): Drawn {
  const { random, light } = pen
  const wall = random.pick<Lch>([
    [0.9, 0.03, 80],
    [0.52, 0.12, 30],
    [0.62, 0.07, 60],
    [0.78, 0.06, 75],
  ])
  const roof: Lch = snow
    ? [0.96, 0.012, 240]
    : random.pick<Lch>([
        [0.42, 0.08, 35],
        [0.4, 0.03, 260],
        [0.5, 0.1, 40],
      ])
  const at = (u: number, v: number): Point => [x + u * size, base - v * size]
  const lit = light.side
  const gable = straight([
    at(-0.5 * lit, 0),
    at(-0.5 * lit, 0.42),
    at(-0.27 * lit, 0.74),
    at(-0.04 * lit, 0.42),
    at(-0.04 * lit, 0),
  ])
  const front = straight([at(-0.04 * lit, 0), at(-0.04 * lit, 0.42), at(0.56 * lit, 0.42), at(0.56 * lit, 0)])
  const slope = straight([at(-0.06 * lit, 0.37), at(-0.28 * lit, 0.76), at(0.36 * lit, 0.76), at(0.62 * lit, 0.37)])
  const pane = (u: number, v: number, width: number, height: number, isLit: boolean): string =>
    window(pen, {
      left: x + u * size - (width * size) / 2,
      top: base - v * size,
      width: width * size,
      height: height * size,
      depth,
      lit: isLit,
      door: false,
      wall,
    })
  const body = [
    rect(x + 0.18 * lit * size - size * 0.045, base - size * 0.9, size * 0.09, size * 0.25, pen.tint([0.45, 0.06, 35], depth)),
    path(gable, pen.tint(shift(wall, -0.1), depth)),
    path(front, pen.tint(wall, depth)),
    path(slope, pen.tint(roof, depth)),
    line(
      `M${at(-0.54 * lit, 0.37)
        .map(short)
        .join(' ')}L${at(-0.28 * lit, 0.77)
        .map(short)
        .join(' ')}`,
      pen.tint(shift(roof, -0.06), depth),
      size * 0.05,
    ),
    pane(-0.27 * lit, 0.36, 0.13, 0.17, light.lit),
    pane(0.1 * lit, 0.3, 0.14, 0.16, light.lit),
    pane(0.42 * lit, 0.3, 0.14, 0.16, light.lit && random.chance(0.6)),
    rect(x + 0.26 * lit * size - size * 0.055, base - size * 0.27, size * 0.11, size * 0.27, pen.tint([0.36, 0.07, 40], depth)),
    snow || light.lit ? smoke(pen, x + 0.18 * lit * size, base - size * 0.92, size, depth) : '',
  ]
  const glows = light.lit
    ? [
        { x: x + 0.1 * lit * size, y: base - size * 0.22, radius: size * 0.85, colour: light.lamp, strength: 0.42 },
        { x: x - 0.27 * lit * size, y: base - size * 0.28, radius: size * 0.6, colour: light.lamp, strength: 0.34 },
      ]
    : []
  return { body: body.join(''), glows }
}

function smoke(pen: Pen, x: number, y: number, size: number, depth: number): string {
  const tone = pen.tint([0.88, 0.01, 240], depth * 0.7)
  return group(
    { stroke: 'none' },
    ...Array.from({ length: 7 }, (_, index) =>
      ellipse(
        x + pen.light.side * -1 * (index * size * 0.055 + index * index * size * 0.012),
        y - index * size * 0.1,
        size * (0.035 + index * 0.016),
        size * (0.03 + index * 0.013),
        tone,
        { opacity: 0.62 - index * 0.075 },
      ),
    ),
  )
}

export function windmill(pen: Pen, x: number, base: number, height: number, depth: number): Drawn {
  const stone: Lch = [0.8, 0.04, 75]
  const at = (u: number, v: number): Point => [x + u * height, base - v * height]
  const away = pen.light.side === -1 ? 1 : -1
  const hub = at(0, 0.68)
  const turn = pen.random.between(0.2, 1.2)
  const sails = [0, 1, 2, 3].map((index) => {
    const angle = turn + (index * Math.PI) / 2
    const out = (along: number, across: number): Point => [
      hub[0] + (Math.cos(angle) * along - Math.sin(angle) * across) * height,
      hub[1] + (Math.sin(angle) * along + Math.cos(angle) * across) * height,
    ]
    return (
      path(straight([out(0.1, 0), out(0.1, 0.085), out(0.46, 0.085), out(0.46, 0)]), pen.tint([0.93, 0.02, 85], depth)) +
      line(straight([out(0, 0), out(0.48, 0)], false), pen.tint([0.35, 0.05, 50], depth), height * 0.015)
    )
  })
  const body = [
    path(straight([at(-0.15, 0), at(-0.095, 0.62), at(0.095, 0.62), at(0.15, 0)]), pen.tint(stone, depth)),
    path(
      straight([at(away * 0.15, 0), at(away * 0.095, 0.62), at(away * 0.02, 0.62), at(away * 0.04, 0)]),
      pen.tint(shift(stone, -0.1), depth),
      { stroke: 'none' },
    ),
    path(
      `M${at(-0.11, 0.61).map(short).join(' ')}Q${at(0, 0.9).map(short).join(' ')} ${at(0.11, 0.61).map(short).join(' ')}Z`,
      pen.tint([0.45, 0.09, 35], depth),
    ),
    rect(x - height * 0.035, base - height * 0.14, height * 0.07, height * 0.14, pen.tint([0.36, 0.06, 45], depth)),
    rect(
      x - height * 0.022,
      base - height * 0.38,
      height * 0.044,
      height * 0.06,
      pen.light.lit ? pen.pure(pen.light.lamp) : pen.tint([0.35, 0.03, 240], depth),
      { stroke: 'none' },
    ),
    ...sails,
    circle(hub[0], hub[1], height * 0.018, pen.tint([0.35, 0.05, 50], depth)),
  ]
  return { body: body.join(''), glows: [] }
}

/** A tent with a lamp inside. */
export function tent(pen: Pen, x: number, base: number, size: number, depth: number): Drawn {
  const colour: Lch = pen.random.pick([
    [0.72, 0.16, 55],
    [0.66, 0.15, 35],
    [0.75, 0.13, 80],
  ])
  const lit = pen.light.time === 'night' || pen.light.time === 'dusk'
  const tone = (lift: number): string => (lit ? pen.pure(shift(colour, lift + 0.06)) : pen.tint(shift(colour, lift), depth))
  const at = (u: number, v: number): Point => [x + u * size, base - v * size]
  const body =
    path(straight([at(-0.55, 0), at(-0.08, 0.62), at(0.62, 0)]), tone(-0.05)) +
    path(straight([at(-0.55, 0), at(-0.08, 0.62), at(0.12, 0)]), tone(0.03)) +
    path(
      straight([at(-0.32, 0), at(-0.08, 0.5), at(0.02, 0)]),
      lit ? pen.pure([0.93, 0.1, 88]) : pen.tint([0.35, 0.05, 40], depth),
    )
  return { body, glows: lit ? [{ x, y: base - size * 0.25, radius: size * 1.6, colour, strength: 0.55 }] : [] }
}

/** A hot-air balloon, in gores of two colours. */
export function balloon(pen: Pen, x: number, y: number, size: number, depth: number): Drawn {
  const { random } = pen
  const main: Lch = random.pick([
    [0.64, 0.18, 28],
    [0.78, 0.15, 75],
    [0.56, 0.12, 245],
    [0.62, 0.12, 180],
    [0.66, 0.15, 345],
  ])
  const second: Lch = random.chance(0.6) ? [0.94, 0.03, 88] : shift(main, 0.12, 0.9, 40)
  const s = short
  const gore = (u: number): string =>
    `M${s(x)} ${s(y - size * 0.5)}C${s(x + u * size * 0.62)} ${s(y - size * 0.5)} ${s(x + u * size * 0.62)} ${s(y + size * 0.12)} ${s(x + u * size * 0.1)} ${s(y + size * 0.46)}H${s(x - u * size * 0.1)}C${s(x - u * size * 0.62)} ${s(y + size * 0.12)} ${s(x - u * size * 0.62)} ${s(y - size * 0.5)} ${s(x)} ${s(y - size * 0.5)}Z`
  const away = pen.light.side === -1 ? 1 : -1
  const shade = `M${s(x)} ${s(y - size * 0.5)}C${s(x + away * size * 0.62)} ${s(y - size * 0.5)} ${s(x + away * size * 0.62)} ${s(y + size * 0.12)} ${s(x + away * size * 0.1)} ${s(y + size * 0.46)}H${s(x)}C${s(x + away * size * 0.34)} ${s(y + size * 0.1)} ${s(x + away * size * 0.34)} ${s(y - size * 0.4)} ${s(x)} ${s(y - size * 0.5)}Z`
  const rope = pen.tint([0.3, 0.04, 50], depth)
  const body = [
    line(
      `M${s(x - size * 0.09)} ${s(y + size * 0.45)}L${s(x - size * 0.06)} ${s(y + size * 0.64)}M${s(x + size * 0.09)} ${s(y + size * 0.45)}L${s(x + size * 0.06)} ${s(y + size * 0.64)}`,
      rope,
      Math.max(0.4, size * 0.01),
    ),
    path(gore(1), pen.tint(main, depth)),
    path(gore(0.66), pen.tint(second, depth)),
    path(gore(0.3), pen.tint(main, depth)),
    path(shade, pen.tint(shift(main, -0.16), depth), { opacity: 0.4, stroke: 'none' }),
    rect(x - size * 0.075, y + size * 0.63, size * 0.15, size * 0.11, pen.tint([0.5, 0.08, 60], depth), { rx: size * 0.02 }),
  ]
  return {
    body: body.join(''),
    glows: pen.light.lit ? [{ x, y: y + size * 0.3, radius: size * 0.6, colour: pen.light.lamp, strength: 0.5 }] : [],
  }
}

/** A stone bridge with several arches. `y` is the level of the water. */
export function bridge(pen: Pen, from: number, to: number, y: number, height: number, depth: number): string {
  const stone: Lch = [0.6, 0.03, 65]
  const count = Math.max(2, Math.round((to - from) / (height * 2.6)))
  const span = (to - from) / count
  const deck = (x: number): number => y - height - height * 0.28 * Math.sin((Math.PI * (x - from)) / (to - from))
  const s = short
  const middle = (from + to) / 2
  let d = `M${s(from)} ${s(y + 2)}V${s(deck(from))}Q${s(middle)} ${s(deck(middle) - height * 0.28)} ${s(to)} ${s(deck(to))}V${s(y + 2)}`
  for (let arch = count - 1; arch >= 0; arch--) {
    const right = from + span * (arch + 1) - span * 0.11
    const left = from + span * arch + span * 0.11
    d += `H${s(right)}A${s((right - left) / 2)} ${s(height * 0.72)} 0 0 0 ${s(left)} ${s(y + 2)}`
  }
  const rail = `M${s(from)} ${s(deck(from))}Q${s(middle)} ${s(deck(middle) - height * 0.28)} ${s(to)} ${s(deck(to))}`
  return path(`${d}Z`, pen.tint(stone, depth)) + line(rail, pen.tint(shift(stone, 0.08), depth), height * 0.1)
}
