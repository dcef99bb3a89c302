/** A row of narrow canal houses, no two alike. */
import type { Random } from './random.ts'
import { d, group, path, rect, run, type Point, type Sheet } from './svg.ts'
import { window } from './windows.ts'
import { glow } from './surface.ts'

export interface HouseRow {
  from: number
  to: number
  base: number
  /** Lowest and highest eaves above the base. */
  tall: readonly [number, number]
  walls: readonly [readonly [top: string, foot: string], ...(readonly [top: string, foot: string])[]]
  lit: number
  moonFrom: -1 | 1
  pane?: readonly [string, string, string]
}

type Gable = (x: number, w: number, eaves: number) => Point[]

const gables: readonly [Gable, ...Gable[]] = [
  (x, w, y) => [
    [x, y],
    [x + w / 2, y - w * 0.62],
    [x + w, y],
  ],
  (x, w, y) =>
    [0, 1, 2, 3]
      .flatMap((step): Point[] => [
        [x + w * step * 0.11, y - step * w * 0.16],
        [x + w * step * 0.11, y - (step + 1) * w * 0.16],
      ])
      .concat(
        [3, 2, 1, 0].flatMap((step): Point[] => [
          [x + w - w * step * 0.11, y - (step + 1) * w * 0.16],
          [x + w - w * step * 0.11, y - step * w * 0.16],
        ]),
      ),
  (x, w, y) => [
    [x, y],
    [x + w * 0.12, y - w * 0.42],
    [x + w * 0.88, y - w * 0.42],
    [x + w, y],
  ],
  (x, w, y) => [
    [x, y],
    [x + w * 0.04, y - w * 0.12],
    [x + w * 0.24, y - w * 0.2],
    [x + w * 0.3, y - w * 0.46],
    [x + w * 0.42, y - w * 0.6],
    [x + w * 0.58, y - w * 0.6],
    [x + w * 0.7, y - w * 0.46],
    [x + w * 0.76, y - w * 0.2],
    [x + w * 0.96, y - w * 0.12],
    [x + w, y],
  ],
]

function house(sheet: Sheet, rng: Random, x: number, w: number, eaves: number, row: HouseRow): string {
  const { base, moonFrom, lit, pane = ['#3a4079', '#1c2250', '#12163a'] } = row
  const [top, foot] = rng.pick(row.walls)
  const skyline = rng.pick(gables)(x, w, eaves)
  const outline = run([[x, base], ...skyline, [x + w, base]])
  const rows = Math.max(2, Math.round((base - eaves) / (w * 0.68)))
  const columns = w > 88 ? 3 : 2
  const cell = (base - eaves) / (rows + 0.2)
  const parts: string[] = []
  const chimney = x + w * rng.range(0.12, 0.3)
  parts.push(
    rect(chimney, eaves - w * 0.62, w * 0.13, w * 0.62, { fill: top }),
    rect(chimney - 2, eaves - w * 0.64, w * 0.13 + 4, 4, { fill: foot, opacity: 0.6 }),
  )
  parts.push(
    path(outline, {
      fill: sheet.linear([
        [0, top],
        [0.55, top],
        [1, foot],
      ]),
    }),
  )
  parts.push(path(run(skyline, false), { fill: 'none', stroke: '#8f8fd0', 'stroke-width': 1.4, opacity: 0.5 }))
  const edge = moonFrom < 0 ? x : x + w - 4
  parts.push(rect(edge, eaves, 4, base - eaves, { fill: moonFrom < 0 ? '#8a8fd6' : '#0a0d26', opacity: 0.25 }))
  parts.push(rect(x + w - 3, eaves, 3, base - eaves, { fill: '#070a20', opacity: 0.5 }))
  const loft = eaves - w * 0.22
  parts.push(
    window(sheet, rng, x + w / 2 - w * 0.08, loft, w * 0.16, w * 0.18, { lit: rng.chance(lit * 0.7), surround: top, pane }),
  )
  for (let level = 0; level < rows; level++) {
    const y = eaves + cell * (level + 0.22)
    const ground = level === rows - 1
    for (let column = 0; column < columns; column++) {
      const wide = w / (columns + 0.6)
      const wx = x + w * 0.5 + (column - (columns - 1) / 2) * wide - wide * 0.28
      if (ground && column === 0) {
        parts.push(
          rect(wx - 1, y, wide * 0.6, base - y, { fill: '#150f2b' }),
          window(sheet, rng, wx + 2, y + 2, wide * 0.5, cell * 0.16, { lit: true }),
        )
        continue
      }
      parts.push(
        window(sheet, rng, wx, y, wide * 0.56, cell * (ground ? 0.58 : 0.6), {
          lit: rng.chance(ground ? lit + 0.25 : lit),
          surround: foot,
          pane,
        }),
      )
    }
    if (level > 0) parts.push(rect(x, eaves + cell * level + 1, w, 1.6, { fill: '#0a0c28', opacity: 0.35 }))
  }
  return group({}, ...parts)
}

export function houses(sheet: Sheet, rng: Random, row: HouseRow): string {
  const parts: string[] = []
  for (let x = row.from; x < row.to;) {
    const w = Math.min(rng.range(66, 104), row.to - x + 10)
    const eaves = row.base - rng.range(row.tall[0], row.tall[1])
    parts.push(house(sheet, rng, x, w, eaves, row))
    x += w - 1
  }
  return group({}, ...parts)
}

/** A distant skyline: roofs, a spire or two, small lights. */
export function skyline(sheet: Sheet, rng: Random, base: number, fill: string, width: number): string {
  let shape = `M-60 ${base}`
  const lights: string[] = []
  for (let x = -60; x < width + 60;) {
    const w = rng.range(18, 46)
    const h = rng.range(34, 82)
    const roof = rng.range(8, 26)
    shape += rng.chance(0.08)
      ? d`L${x} ${base - h}L${x + w * 0.3} ${base - h}L${x + w * 0.5} ${base - h - 120}L${x + w * 0.7} ${base - h}L${x + w} ${base - h}`
      : d`L${x} ${base - h}L${x + w / 2} ${base - h - roof}L${x + w} ${base - h}`
    if (rng.chance(0.7)) {
      const lx = x + w * rng.range(0.3, 0.7)
      const ly = base - h * rng.range(0.4, 0.9)
      lights.push(rect(lx, ly, 2.2, 3, { fill: '#ffcf86', opacity: 0.85 }), glow(sheet, lx, ly, 9, '#ffb565', 0.5))
    }
    x += w
  }
  return group({}, path(`${shape}L${width + 60} ${base}Z`, { fill }), ...lights)
}
