/** The library of Alder Quay: seven bays, a portal, a clock turret, two banners. */
import type { Random } from './random.ts'
import { d, ellipse, group, path, rect, run, type Sheet } from './svg.ts'
import { window } from './windows.ts'
import { glow } from './surface.ts'

/** The number 100 as shapes, so that no font is needed. */
function hundred(x: number, y: number, h: number, fill: string): string {
  const w = h * 0.5
  const ring = (cx: number): string =>
    ellipse(cx, y + h / 2, w * 0.4, h * 0.44, { fill: 'none', stroke: fill, 'stroke-width': h * 0.13 })
  return group(
    {},
    path(d`M${x - w * 1.35} ${y + h * 0.22}L${x - w * 1.02} ${y}H${x - w * 0.86}V${y + h}H${x - w * 1.12}V${y + h * 0.24}Z`, {
      fill,
    }),
    ring(x - w * 0.1),
    ring(x + w * 1.05),
  )
}

function banner(sheet: Sheet, x: number, y: number, w: number, h: number): string {
  const cloth = sheet.linear(
    [
      [0, '#8d2f45'],
      [0.5, '#c2524a'],
      [1, '#a33b45'],
    ],
    [0, 0, 1, 0.3],
  )
  return group(
    {},
    rect(x - 4, y - 4, w + 8, 4, { fill: '#2a1a35' }),
    path(d`M${x} ${y}h${w}v${h}l${-w / 2} ${-w * 0.34}l${-w / 2} ${w * 0.34}Z`, { fill: cloth }),
    hundred(x + w * 0.54, y + h * 0.16, w * 0.36, '#ffe6b0'),
    path(
      d`M${x + w * 0.2} ${y + h * 0.62}q${w * 0.15} ${-w * 0.14} ${w * 0.3} 0q${w * 0.15} ${-w * 0.14} ${w * 0.3} 0v${w * 0.36}q${-w * 0.15} ${-w * 0.14} ${-w * 0.3} 0q${-w * 0.15} ${-w * 0.14} ${-w * 0.3} 0Z`,
      { fill: '#ffe6b0' },
    ),
    path(d`M${x + w * 0.5} ${y + h * 0.62}v${w * 0.36}`, { stroke: '#a33b45', 'stroke-width': 1.5 }),
  )
}

function turret(sheet: Sheet, rng: Random, x: number, foot: number): string {
  const stone = sheet.linear(
    [
      [0, '#463f7c'],
      [0.5, '#6c5688'],
      [1, '#3a3267'],
    ],
    [0, 0, 1, 0],
  )
  const copper = sheet.linear(
    [
      [0, '#5f9c9c'],
      [0.45, '#34636f'],
      [1, '#1d3850'],
    ],
    [0, 0, 1, 0],
  )
  const face = foot - 92
  return group(
    {},
    rect(x - 44, foot - 140, 88, 140, { fill: stone }),
    rect(x - 52, foot - 12, 104, 12, { fill: '#564a80' }),
    rect(x - 50, foot - 146, 100, 9, { fill: '#7a6696' }),
    ellipse(x, face, 33, 33, { fill: '#2a2450' }),
    ellipse(x, face, 29, 29, {
      fill: sheet.radial([
        [0, '#fff6d8'],
        [0.7, '#ffdf9b'],
        [1, '#f0ab57'],
      ]),
    }),
    ...Array.from({ length: 12 }, (_, hour) =>
      rect(x - 1, face - 26, 2, hour % 3 === 0 ? 6 : 3.5, { fill: '#3a2440', transform: `rotate(${hour * 30} ${x} ${face})` }),
    ),
    rect(x - 1.6, face - 17, 3.2, 19, { fill: '#3a2440', transform: `rotate(266 ${x} ${face})` }),
    rect(x - 1.1, face - 24, 2.2, 27, { fill: '#3a2440', transform: `rotate(312 ${x} ${face})` }),
    glow(sheet, x, face, 120, '#ffc46b', 0.55),
    rect(x - 34, foot - 186, 68, 42, { fill: stone }),
    ...[-22, -5, 12].map((dx) => window(sheet, rng, x + dx, foot - 180, 11, 34, { lit: true, arch: true })),
    rect(x - 40, foot - 190, 80, 6, { fill: '#7a6696' }),
    path(
      d`M${x - 40} ${foot - 190}C${x - 38} ${foot - 222} ${x - 14} ${foot - 226} ${x - 5} ${foot - 252}H${x + 5}C${x + 14} ${foot - 226} ${x + 38} ${foot - 222} ${x + 40} ${foot - 190}Z`,
      { fill: copper },
    ),
    path(d`M${x} ${foot - 252}v-34M${x - 9} ${foot - 272}h18`, { stroke: '#1c1b3c', 'stroke-width': 2.4 }),
    path(d`M${x + 2} ${foot - 284}l16 5l-16 5Z`, { fill: '#e8b45e' }),
  )
}

/** It is 560 wide, with its foot at `base` and its middle at `x`. */
export function library(sheet: Sheet, rng: Random, x: number, base: number): string {
  const left = x - 280
  const eaves = base - 262
  const wall = sheet.linear([
    [0, '#4b437f'],
    [0.5, '#6d5586'],
    [0.85, '#a8736f'],
    [1, '#c98b68'],
  ])
  const slate = sheet.linear([
    [0, '#2b2d62'],
    [1, '#1d1d49'],
  ])
  const parts: string[] = [turret(sheet, rng, x, eaves - 44)]
  parts.push(
    path(
      run([
        [left - 8, eaves],
        [left + 40, eaves - 74],
        [x + 240, eaves - 74],
        [x + 288, eaves],
      ]),
      { fill: slate },
    ),
  )
  for (let course = 1; course < 8; course++)
    parts.push(
      path(d`M${left - 8 + course * 6} ${eaves - course * 9.2}H${x + 288 - course * 6}`, {
        stroke: '#494b8c',
        'stroke-width': 0.8,
        opacity: 0.5,
      }),
    )
  for (const dx of [-200, -120, 120, 200]) {
    const cx = x + dx
    parts.push(
      path(
        run([
          [cx - 20, eaves - 8],
          [cx - 20, eaves - 46],
          [cx, eaves - 64],
          [cx + 20, eaves - 46],
          [cx + 20, eaves - 8],
        ]),
        { fill: '#4a427c' },
      ),
      window(sheet, rng, cx - 9, eaves - 44, 18, 30, { lit: Math.abs(dx) > 150, arch: true }),
    )
  }
  parts.push(rect(left, eaves, 560, 262, { fill: wall }))
  for (let course = 1; course < 22; course++)
    parts.push(path(d`M${left} ${eaves + course * 12}h560`, { stroke: '#2b2554', 'stroke-width': 0.7, opacity: 0.28 }))
  parts.push(rect(left - 14, eaves - 10, 588, 12, { fill: '#86709a' }), rect(left - 8, eaves + 2, 576, 7, { fill: '#3a3267' }))
  for (let dentil = 0; dentil < 47; dentil++) parts.push(rect(left + dentil * 12, eaves + 2, 6, 7, { fill: '#7c6792' }))
  const bays = [-240, -162, -84, 84, 162, 240]
  for (const bay of bays) {
    const cx = x + bay
    parts.push(window(sheet, rng, cx - 15, eaves + 26, 30, 46, { lit: rng.chance(0.8), surround: '#8c7496', bars: '#3a2440' }))
    parts.push(
      window(sheet, rng, cx - 22, eaves + 98, 44, 132, {
        lit: true,
        arch: true,
        inside: true,
        surround: '#9a7d93',
        bars: '#4a2a35',
      }),
    )
  }
  for (const bay of [-280, -201, -123, 123, 201, 280]) {
    const px = x + bay - (bay === 280 ? 12 : bay === -280 ? 0 : 6)
    parts.push(
      rect(px, eaves + 10, 12, 252, {
        fill: sheet.linear([
          [0, '#5d5189'],
          [1, '#d09a78'],
        ]),
      }),
      rect(px + 9, eaves + 10, 3, 252, { fill: '#2b2554', opacity: 0.45 }),
    )
    parts.push(rect(px - 3, eaves + 10, 18, 8, { fill: '#8c7496' }), rect(px - 3, base - 14, 18, 14, { fill: '#b58672' }))
  }
  parts.push(
    rect(left, eaves + 80, 560, 6, { fill: '#8c7496' }),
    rect(left, eaves + 86, 560, 3, { fill: '#2b2554', opacity: 0.5 }),
  )
  parts.push(portal(sheet, rng, x, eaves, base))
  parts.push(banner(sheet, x - 145, eaves + 100, 40, 118), banner(sheet, x + 105, eaves + 100, 40, 118))
  return group({}, ...parts)
}

function portal(sheet: Sheet, rng: Random, x: number, eaves: number, base: number): string {
  const stone = sheet.linear([
    [0, '#74618f'],
    [0.7, '#c08f7c'],
    [1, '#e3ad7c'],
  ])
  return group(
    {},
    rect(x - 58, eaves + 6, 116, base - eaves - 6, { fill: stone }),
    path(
      run([
        [x - 72, eaves + 4],
        [x, eaves - 44],
        [x + 72, eaves + 4],
      ]),
      { fill: '#6a5a8c' },
    ),
    path(
      run([
        [x - 56, eaves],
        [x, eaves - 36],
        [x + 56, eaves],
      ]),
      { fill: '#4b437f' },
    ),
    path(d`M${x - 22} ${eaves - 4}q11 -9 22 0q11 -9 22 0v-10q-11 -9 -22 0q-11 -9 -22 0Z`, { fill: '#ffd99a' }),
    rect(x - 76, eaves + 2, 152, 8, { fill: '#9a82a0' }),
    window(sheet, rng, x - 32, eaves + 24, 64, 62, {
      lit: true,
      arch: true,
      inside: false,
      surround: '#9a7d93',
      bars: '#4a2a35',
    }),
    path(d`M${x - 40} ${base}V${base - 108}A40 40 0 0 1 ${x + 40} ${base - 108}V${base}Z`, { fill: '#3a2440' }),
    path(d`M${x - 33} ${base}V${base - 106}A33 33 0 0 1 ${x + 33} ${base - 106}V${base}Z`, {
      fill: sheet.linear([
        [0, '#ffc66e'],
        [0.6, '#fff0bd'],
        [1, '#fffbe6'],
      ]),
    }),
    path(
      run([
        [x - 33, base],
        [x - 33, base - 100],
        [x - 22, base - 94],
        [x - 22, base - 4],
      ]),
      { fill: '#7b4230' },
    ),
    path(
      run([
        [x + 33, base],
        [x + 33, base - 100],
        [x + 22, base - 94],
        [x + 22, base - 4],
      ]),
      { fill: '#7b4230' },
    ),
    ellipse(x, base - 118, 7, 9, { fill: '#fffbe6' }),
    glow(sheet, x, base - 60, 190, '#ffb45c', 0.75),
  )
}
