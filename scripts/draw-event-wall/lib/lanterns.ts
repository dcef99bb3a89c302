/** Paper lanterns, bulbs on a wire, and the small boats folded from catalogue cards. */
import type { Random } from './random.ts'
import { d, ellipse, group, path, rect, run, type Point, type Sheet } from './svg.ts'
import { glow } from './surface.ts'

/** A flame behind paper: its centre, the paper, the edge. */
export type Flame = readonly [heart: string, paper: string, edge: string]

export const flames: readonly [Flame, ...Flame[]] = [
  ['#fff3c9', '#ffb850', '#d9602a'],
  ['#fff0d2', '#ff9a55', '#c23f32'],
  ['#fffbe0', '#ffd578', '#d98a34'],
  ['#ffeaf0', '#f58a92', '#a8325c'],
  ['#f4ffe6', '#9fd6b4', '#2f7f86'],
]

/** A round lantern on a string, ribs and all. */
export function globe(sheet: Sheet, x: number, y: number, r: number, flame: Flame, halo = 5): string {
  const [heart, paper, edge] = flame
  const body = sheet.radial(
    [
      [0, heart],
      [0.42, paper],
      [1, edge],
    ],
    0.5,
    0.6,
    0.62,
  )
  const ribs = [-0.66, -0.33, 0, 0.33, 0.66].map((at) => {
    const half = r * Math.sqrt(1 - at * at)
    return path(d`M${x - half} ${y + at * r * 0.92}q${half} ${r * 0.16} ${half * 2} 0`, {
      fill: 'none',
      stroke: edge,
      'stroke-width': r * 0.035,
      opacity: 0.55,
    })
  })
  return group(
    {},
    glow(sheet, x, y, r * halo, paper, 0.55),
    path(d`M${x} ${y - r * 1.9}V${y - r}`, { stroke: '#1a1530', 'stroke-width': Math.max(0.8, r * 0.07) }),
    ellipse(x, y, r, r * 0.92, { fill: body }),
    ...ribs,
    rect(x - r * 0.3, y - r * 1.02, r * 0.6, r * 0.16, { fill: '#3a1d2c' }),
    rect(x - r * 0.24, y + r * 0.86, r * 0.48, r * 0.14, { fill: '#3a1d2c' }),
    path(d`M${x} ${y + r}v${r * 0.5}`, { stroke: edge, 'stroke-width': r * 0.12, opacity: 0.8 }),
    glow(sheet, x, y + r * 0.1, r * 1.15, heart, 0.7),
  )
}

/** A folded boat with a candle, and its light on the water. */
export function boat(sheet: Sheet, x: number, y: number, size: number, flame: Flame, tilt = 0): string {
  const [heart, paper, edge] = flame
  const near = sheet.linear([
    [0, heart],
    [0.35, paper],
    [1, edge],
  ])
  const far = sheet.linear([
    [0, paper],
    [1, edge],
  ])
  const s = size
  const sail: Point[] = [
    [-0.44 * s, -0.3 * s],
    [0.02 * s, -0.98 * s],
    [0.46 * s, -0.3 * s],
  ]
  // The reflection: a column of broken bars whose distances grow.
  const count = Math.round(9 + s * 0.26)
  const bars = Array.from({ length: count }, (_, bar) => {
    const fall = bar / count
    const sway = Math.sin(bar * 2.3 + x) * s * (0.05 + fall * 0.14)
    const half = s * (0.7 - fall * 0.5) * (0.72 + 0.28 * Math.sin(bar * 4.1 + y))
    const thick = (s * 0.42) / count + 0.5
    const by = s * (0.2 + fall * 1.9)
    return path(
      d`M${sway - half} ${by}Q${sway - half * 0.2} ${by - thick} ${sway + half} ${by}Q${sway + half * 0.3} ${by + thick * 1.4} ${sway - half} ${by}Z`,
      { fill: bar % 3 === 0 ? heart : paper, opacity: 0.75 * (1 - fall) },
    )
  })
  return group(
    { transform: `translate(${Math.round(x * 10) / 10} ${Math.round(y * 10) / 10})` },
    glow(sheet, 0, 0, s * 4.2, paper, 0.34, 0.42),
    group({ style: 'mix-blend-mode:screen' }, ...bars),
    group(
      { transform: `rotate(${tilt})` },
      path(run(sail), { fill: far }),
      path(d`M0 ${-0.34 * s}L${0.02 * s} ${-0.98 * s}L${0.46 * s} ${-0.3 * s}Z`, { fill: edge, opacity: 0.35 }),
      path(d`M${-s} ${-0.46 * s}Q0 ${-0.2 * s} ${s} ${-0.46 * s}L${0.6 * s} ${0.1 * s}Q0 ${0.2 * s} ${-0.6 * s} ${0.1 * s}Z`, {
        fill: near,
      }),
      path(d`M${-s} ${-0.46 * s}L${-0.1 * s} ${-0.3 * s}L${-0.6 * s} ${0.1 * s}Z`, { fill: edge, opacity: 0.25 }),
      path(d`M${0.5 * s} ${-0.36 * s}L${s} ${-0.46 * s}L${0.6 * s} ${0.1 * s}Z`, { fill: heart, opacity: 0.3 }),
    ),
    glow(sheet, 0, -0.3 * s, s * 1.9, paper, 0.6),
    ellipse(0, 0.13 * s, 0.62 * s, 0.06 * s, { fill: heart, opacity: 0.7 }),
  )
}

/** Bulbs on a sagging wire between two points. */
export function garland(
  sheet: Sheet,
  rng: Random,
  from: Point,
  to: Point,
  sag: number,
  bulbs: number,
  size = 2.4,
  wire = '#151230',
): string {
  const [x0, y0] = from
  const [x1, y1] = to
  const at = (t: number): Point => [x0 + (x1 - x0) * t, y0 + (y1 - y0) * t + sag * 4 * t * (1 - t)]
  const steps = Array.from({ length: 25 }, (_, step) => at(step / 24))
  const lights = Array.from({ length: bulbs }, (_, bulb) => {
    const [x, y] = at((bulb + 0.5) / bulbs)
    const colour = rng.pick(['#ffd27a', '#ffdf9e', '#ffc05c', '#ffb36b'])
    return glow(sheet, x, y + size, size * 6, colour, 0.7) + ellipse(x, y + size, size * 0.8, size, { fill: '#fff4cf' })
  })
  return group({}, path(run(steps, false), { fill: 'none', stroke: wire, 'stroke-width': size * 0.4 }), ...lights)
}
