import { shift, type Lch } from '../colour/oklch.ts'
import type { Pen } from '../drawing/pen.ts'
import { circle, line, path, rect, short } from '../drawing/svg.ts'

const COATS: readonly Lch[] = [
  [0.36, 0.08, 262],
  [0.45, 0.12, 28],
  [0.42, 0.07, 170],
  [0.55, 0.1, 65],
  [0.33, 0.03, 280],
  [0.5, 0.09, 330],
]

/** A person seen from behind, in a coat, perhaps with an umbrella. `y` is the position of the feet. */
export function person(pen: Pen, x: number, y: number, height: number, depth: number, umbrella = false): string {
  const { random } = pen
  const coat = random.pick(COATS)
  const dark = pen.tint([0.22, 0.02, 260], depth)
  const s = short
  const h = height
  const swing = random.around(0, h * 0.03)
  const at = (u: number, v: number): string => `${s(x + u * h)} ${s(y - v * h)}`
  const legs =
    rect(x - h * 0.085, y - h * 0.3, h * 0.07, h * 0.3, dark) +
    rect(x + h * 0.018 + swing, y - h * 0.3, h * 0.07, h * 0.292, dark)
  const long = random.chance(0.6) ? 0.22 : 0.4
  const body = `M${at(-0.05, 0.83)}Q${at(-0.15, 0.81)} ${at(-0.165, 0.72)}Q${at(-0.19, 0.55)} ${at(-0.185, 0.43)}L${at(-0.13, 0.44)}L${at(-0.165, long)}Q${at(0, long - 0.02)} ${at(0.165, long)}L${at(0.13, 0.44)}L${at(0.185, 0.43)}Q${at(0.19, 0.55)} ${at(0.165, 0.72)}Q${at(0.15, 0.81)} ${at(0.05, 0.83)}Z`
  const away = pen.light.side === -1 ? 1 : -1
  const shade = `M${at(away * 0.05, 0.83)}Q${at(away * 0.15, 0.81)} ${at(away * 0.165, 0.72)}Q${at(away * 0.19, 0.55)} ${at(away * 0.185, 0.43)}L${at(away * 0.13, 0.44)}L${at(away * 0.165, long)}L${at(away * 0.05, long - 0.01)}Q${at(away * 0.08, 0.6)} ${at(away * 0.02, 0.83)}Z`
  const hair = random.pick<Lch>([
    [0.28, 0.04, 50],
    [0.22, 0.02, 40],
    [0.5, 0.07, 65],
    [0.36, 0.06, 40],
  ])
  const head =
    rect(x - h * 0.026, y - h * 0.87, h * 0.052, h * 0.06, pen.tint([0.62, 0.06, 55], depth), { stroke: 'none' }) +
    circle(x, y - h * 0.92, h * 0.062, pen.tint(hair, depth))
  const cover = random.pick(['none', 'hat', 'bun', 'scarf'] as const)
  const colour = random.pick(COATS)
  const worn = {
    none: '',
    hat: path(
      `M${at(-0.12, 0.945)}H${s(x + h * 0.12)}L${at(0.07, 0.955)}Q${at(0.065, 1.02)} ${at(0, 1.015)}Q${at(-0.065, 1.02)} ${at(-0.07, 0.955)}Z`,
      pen.tint(colour, depth),
    ),
    bun: circle(x, y - h * 0.995, h * 0.03, pen.tint(hair, depth)),
    scarf: path(
      `M${at(-0.075, 0.86)}Q${at(0, 0.83)} ${at(0.075, 0.86)}L${at(0.07, 0.81)}Q${at(0, 0.785)} ${at(-0.07, 0.81)}Z`,
      pen.tint([0.6, 0.17, 30], depth),
    ),
  }[umbrella ? 'none' : cover]
  return (
    legs +
    path(body, pen.tint(coat, depth)) +
    path(shade, pen.tint(shift(coat, -0.07), depth), { stroke: 'none' }) +
    head +
    worn +
    (umbrella ? openUmbrella(pen, x + h * 0.04, y - h * 0.96, h * 0.38, depth) : '')
  )
}

function openUmbrella(pen: Pen, x: number, y: number, radius: number, depth: number): string {
  const colour = pen.random.pick<Lch>([
    [0.58, 0.19, 28],
    [0.8, 0.15, 85],
    [0.55, 0.13, 245],
    [0.62, 0.13, 170],
    [0.6, 0.16, 350],
  ])
  const s = short
  const dome = `M${s(x - radius)} ${s(y)}A${s(radius)} ${s(radius * 0.82)} 0 0 1 ${s(x + radius)} ${s(y)}Q${s(x + radius * 0.66)} ${s(y - radius * 0.16)} ${s(x + radius * 0.34)} ${s(y)}Q${s(x)} ${s(y - radius * 0.16)} ${s(x - radius * 0.34)} ${s(y)}Q${s(x - radius * 0.66)} ${s(y - radius * 0.16)} ${s(x - radius)} ${s(y)}Z`
  const away = pen.light.side === -1 ? 1 : -1
  const panel = `M${s(x)} ${s(y - radius * 0.82)}Q${s(x + away * radius * 0.4)} ${s(y - radius * 0.5)} ${s(x + away * radius * 0.34)} ${s(y)}Q${s(x + away * radius * 0.66)} ${s(y - radius * 0.16)} ${s(x + away * radius)} ${s(y)}A${s(radius)} ${s(radius * 0.82)} 0 0 ${away === 1 ? 0 : 1} ${s(x)} ${s(y - radius * 0.82)}Z`
  return (
    line(
      `M${s(x)} ${s(y - radius * 0.92)}V${s(y + radius * 1.1)}`,
      pen.tint([0.25, 0.03, 50], depth),
      Math.max(0.6, radius * 0.05),
    ) +
    path(dome, pen.tint(colour, depth)) +
    path(panel, pen.tint(shift(colour, -0.09), depth), { stroke: 'none' })
  )
}

/** A cat that sits and looks away from us. */
export function cat(pen: Pen, x: number, y: number, size: number, depth: number): string {
  const fur = pen.tint([0.2, 0.02, 270], depth)
  const s = short
  const at = (u: number, v: number): string => `${s(x + u * size)} ${s(y - v * size)}`
  const body = `M${at(-0.26, 0)}Q${at(-0.34, 0.36)} ${at(-0.15, 0.6)}Q${at(0, 0.7)} ${at(0.15, 0.6)}Q${at(0.34, 0.36)} ${at(0.26, 0)}Z`
  const head = `M${at(-0.2, 0.74)}L${at(-0.19, 1.02)}L${at(-0.07, 0.91)}Q${at(0, 0.93)} ${at(0.07, 0.91)}L${at(0.19, 1.02)}L${at(0.2, 0.74)}Q${at(0.15, 0.56)} ${at(0, 0.56)}Q${at(-0.15, 0.56)} ${at(-0.2, 0.74)}Z`
  return (
    path(body, fur) +
    path(head, fur) +
    line(`M${at(0.2, 0.05)}Q${at(0.56, 0)} ${at(0.5, 0.3)}Q${at(0.46, 0.44)} ${at(0.54, 0.52)}`, fur, size * 0.075)
  )
}

/** An alert deer. It looks to the side of `way`. */
export function deer(pen: Pen, x: number, y: number, size: number, depth: number, way: -1 | 1): string {
  const own: Lch = [0.42, 0.07, 55]
  const fur = pen.tint(own, depth)
  const at = (u: number, v: number): string => `${short(x + way * u * size)} ${short(y - v * size)}`
  const body = `M${at(-0.42, 0.62)}Q${at(-0.2, 0.7)} ${at(0.12, 0.66)}Q${at(0.22, 0.76)} ${at(0.27, 0.98)}L${at(0.25, 1.1)}L${at(0.33, 1.06)}Q${at(0.42, 1.02)} ${at(0.53, 0.93)}Q${at(0.52, 0.88)} ${at(0.4, 0.89)}Q${at(0.37, 0.72)} ${at(0.3, 0.5)}Q${at(0.1, 0.36)} ${at(-0.2, 0.4)}Q${at(-0.42, 0.4)} ${at(-0.46, 0.55)}Z`
  const legs = (
    [
      [-0.4, 0.5, -0.43, 0.02],
      [-0.3, 0.45, -0.27, 0],
      [0.14, 0.45, 0.14, 0],
      [0.24, 0.48, 0.27, 0.02],
    ] as const
  ).map(([a, b, c, d], index) =>
    line(`M${at(a, b)}Q${at(a, b * 0.55)} ${at(c, d)}`, index % 2 === 0 ? pen.tint(shift(own, -0.06), depth) : fur, size * 0.045),
  )
  const antlers = line(
    `M${at(0.3, 1.06)}Q${at(0.24, 1.25)} ${at(0.36, 1.42)}M${at(0.27, 1.2)}L${at(0.17, 1.3)}M${at(0.29, 1.3)}L${at(0.4, 1.3)}M${at(0.36, 1.05)}Q${at(0.44, 1.2)} ${at(0.54, 1.34)}M${at(0.44, 1.18)}L${at(0.55, 1.18)}`,
    pen.tint([0.5, 0.05, 65], depth),
    size * 0.026,
  )
  return (
    legs.join('') +
    antlers +
    path(body, fur) +
    line(`M${at(-0.44, 0.6)}L${at(-0.52, 0.5)}`, pen.tint([0.85, 0.03, 80], depth), size * 0.05)
  )
}

/** Riders cross from one side to the other. */
export function camel(pen: Pen, x: number, y: number, size: number, depth: number, way: -1 | 1): string {
  const fur = pen.tint([0.3, 0.05, 50], depth)
  const at = (u: number, v: number): string => `${short(x + way * u * size)} ${short(y - v * size)}`
  const body = `M${at(-0.42, 0.62)}Q${at(-0.36, 0.76)} ${at(-0.24, 0.74)}Q${at(-0.12, 1.02)} ${at(0.04, 0.76)}Q${at(0.2, 0.76)} ${at(0.3, 0.62)}Q${at(0.42, 0.56)} ${at(0.46, 0.82)}Q${at(0.47, 0.95)} ${at(0.54, 1)}L${at(0.7, 0.95)}L${at(0.69, 0.88)}L${at(0.57, 0.88)}Q${at(0.56, 0.6)} ${at(0.42, 0.46)}Q${at(0.1, 0.38)} ${at(-0.3, 0.44)}Q${at(-0.42, 0.46)} ${at(-0.42, 0.62)}Z`
  const legs = [-0.36, -0.26, 0.2, 0.3].map((u, index) =>
    line(`M${at(u, 0.5)}Q${at(u + 0.02, 0.25)} ${at(u + (index % 2 === 0 ? -0.06 : 0.05), 0)}`, fur, size * 0.055),
  )
  const rider =
    path(
      `M${at(-0.22, 0.9)}Q${at(-0.2, 1.28)} ${at(-0.1, 1.3)}Q${at(0.02, 1.28)} ${at(0.04, 0.86)}Z`,
      pen.tint([0.55, 0.15, 30], depth),
    ) + circle(x - way * size * 0.1, y - size * 1.36, size * 0.075, pen.tint([0.9, 0.02, 85], depth))
  return legs.join('') + path(body, fur) + rider
}
