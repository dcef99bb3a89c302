/** Story hour in the reading room, drawn in one-point perspective. */
import { mix } from '../lib/colour.ts'
import { random } from '../lib/random.ts'
import { flames, globe } from '../lib/lanterns.ts'
import { grownUp, smallOne } from '../lib/seated.ts'
import { stand } from '../lib/people.ts'
import { d, ellipse, group, path, rect, run, Sheet } from '../lib/svg.ts'
import { blur, cutEdge, finishCoat, glow } from '../lib/surface.ts'
import { see, vault, shelves, backWall, floor, ladder } from './reading-room-walls.ts'

function story(sheet: Sheet): string {
  const [x, y] = see(0, 0, 8.9)
  const rng = random(17)
  const motes = Array.from({ length: 190 }, (_, mote) => {
    const rise = rng.next()
    const mx = x + Math.sin(rise * 7 + mote) * (30 + rise * 120) + rng.range(-14, 14)
    const my = y - 96 - rise * 230
    if (Math.hypot(mx - x, (my - y + 134) * 0.8) < 30) return ''
    return (
      ellipse(mx, my, 1.8 - rise, 1.8 - rise, { fill: '#fff2c4', opacity: 1 - rise * 0.8 }) +
      glow(sheet, mx, my, 9, '#ffc66e', 0.6 * (1 - rise))
    )
  })
  return group(
    { transform: `translate(${x} ${y}) scale(1.42) translate(${-x} ${-y})` },
    glow(sheet, x, y - 90, 240, '#ffb85c', 0.42),
    ellipse(x, y + 4, 92, 17, { fill: '#1d0c1a', opacity: 0.5 }),
    path(d`M${x - 66} ${y}V${y - 92}Q${x - 66} ${y - 176} ${x} ${y - 178}Q${x + 66} ${y - 176} ${x + 66} ${y - 92}V${y}Z`, {
      fill: sheet.radial(
        [
          [0, '#4f8078'],
          [1, '#1f4048'],
        ],
        0.5,
        0.35,
        0.7,
      ),
    }),
    path(d`M${x - 78} ${y + 2}V${y - 66}q14 -18 28 0v68Z M${x + 78} ${y + 2}V${y - 66}q-14 -18 -28 0v68Z`, { fill: '#2a545a' }),
    path(
      d`M${x - 34} ${y}C${x - 44} ${y - 50} ${x - 40} ${y - 104} ${x - 12} ${y - 112}H${x + 12}C${x + 40} ${y - 104} ${x + 44} ${y - 50} ${x + 34} ${y}Z`,
      { fill: '#2f3f66' },
    ),
    path(d`M${x - 12} ${y - 2}l6 -44M${x + 14} ${y - 2}l-4 -40`, { stroke: '#1f2a4a', 'stroke-width': 2, opacity: 0.7 }),
    rect(x - 6, y - 122, 12, 14, { fill: '#b5714e' }),
    ellipse(x, y - 134, 17, 20, { fill: '#c98a60' }),
    path(
      d`M${x - 20} ${y - 130}C${x - 24} ${y - 168} ${x + 24} ${y - 168} ${x + 20} ${y - 130}Q${x + 14} ${y - 150} ${x} ${y - 149}Q${x - 14} ${y - 150} ${x - 20} ${y - 130}Z`,
      { fill: '#e8ddd0' },
    ),
    ellipse(x, y - 162, 9, 8, { fill: '#e8ddd0' }),
    ...[-7, 7].map(
      (dx) =>
        ellipse(x + dx, y - 134, 5.2, 5, { fill: '#fff3cf', 'fill-opacity': 0.35, stroke: '#4a2430', 'stroke-width': 1.1 }) +
        path(d`M${x + dx - 3} ${y - 134}q3 2.6 6 0`, { fill: 'none', stroke: '#4a2430', 'stroke-width': 1.3 }),
    ),
    path(d`M${x - 2} ${y - 135}h4`, { stroke: '#4a2430', 'stroke-width': 1.1 }),
    path(d`M${x - 5} ${y - 122}q5 4 10 0`, { stroke: '#7a3a30', 'stroke-width': 1.6, fill: 'none' }),
    glow(sheet, x, y - 88, 74, '#ffd68a', 0.5),
    path(
      d`M${x} ${y - 66}Q${x - 24} ${y - 84} ${x - 46} ${y - 72}V${y - 100}Q${x - 22} ${y - 110} ${x} ${y - 94}Q${x + 22} ${y - 110} ${x + 46} ${y - 100}V${y - 72}Q${x + 24} ${y - 84} ${x} ${y - 66}Z`,
      { fill: '#8c2f3e' },
    ),
    path(
      d`M${x} ${y - 94}Q${x - 22} ${y - 112} ${x - 43} ${y - 103}L${x - 40} ${y - 99}Q${x - 20} ${y - 106} ${x} ${y - 90}Q${x + 20} ${y - 106} ${x + 40} ${y - 99}L${x + 43} ${y - 103}Q${x + 22} ${y - 112} ${x} ${y - 94}Z`,
      { fill: '#fff3cf' },
    ),
    ...motes,
  )
}

function listeners(): string {
  const rows: readonly (readonly [x: number, z: number, size: number, kind: number, cloth: string])[] = [
    [-2.05, 7.6, 0.8, 0, '#3a3d68'],
    [2.1, 7.5, 0.8, 1, '#74443c'],
    [-2.5, 6.5, 1.15, 2, '#4a2f52'],
    [2.6, 6.4, 1.15, 3, '#2c4652'],
    [-1.45, 6.4, 0.8, 1, '#7c4a34'],
    [1.4, 6.3, 0.82, 0, '#5c2f4a'],
    [-1.9, 5.2, 0.86, 0, '#2f4a56'],
    [1.75, 5.1, 0.84, 1, '#6a3a3a'],
    [-0.75, 5.3, 0.8, 1, '#4d3a63'],
    [0.62, 5.3, 0.8, 0, '#7a4b30'],
    [-1.0, 4.15, 1.02, 4, '#33284c'],
    [0.1, 4.3, 0.78, 0, '#733a42'],
    [1.55, 4.05, 1.02, 2, '#3d2a40'],
    [-2.35, 4.1, 0.82, 1, '#3b4258'],
    [2.45, 4.3, 0.8, 0, '#2e4450'],
  ]
  return [...rows]
    .sort((one, other) => other[1] - one[1])
    .map(([x, z, size, kind, cloth]) => {
      const [px, py] = see(x, 0, z)
      const draw = (fill?: string): string =>
        kind === 0
          ? smallOne(true, fill)
          : kind === 1
            ? smallOne(false, fill)
            : grownUp(kind === 2 ? 'bun' : kind === 3 ? 'hat' : 'short', fill)
      const scale = (size * 520) / z / 100
      const near = (7.6 - z) / 4
      const side = x < 0 ? 1 : -1
      return (
        ellipse(px, py + 4, 74 * scale, 17 * scale, { fill: '#1d0c1a', opacity: 0.6 }) +
        stand(
          draw(mix(cloth, '#1a0c22', near * 0.8)),
          px,
          py - 78 * scale,
          scale * 100,
          {
            fill: mix('#43202c', '#1a0b1c', near),
            rim: mix('#ffc27a', '#c2704a', near),
            from: [side * Math.min(2, Math.abs(x)), -1.8],
          },
          false,
          draw(),
        )
      )
    })
    .join('')
}

export function readingRoom(): string {
  const sheet = new Sheet(1200, 900)
  const lamps: string[] = []
  for (let z = 12.8; z > 4; z -= 2.1)
    for (const side of [-1, 1]) {
      const [x, y] = see(side * 2.5, 4.15, z)
      const [, hook] = see(side * 2.5, 6.9, z)
      lamps.push(
        path(d`M${x} ${y}V${hook}`, { stroke: '#2a1220', 'stroke-width': 14 / z }),
        globe(sheet, x, y, 175 / z, flames[2] ?? flames[0], 4.4),
      )
    }
  return sheet.finish(
    rect(-60, -60, 1320, 1020, { fill: '#26132a' }),
    group({ filter: cutEdge(sheet, 2) }, vault(), backWall(sheet), floor(sheet), shelves(-1), shelves(1), ladder()),
    sheet.all({
      fill: sheet.radial(
        [
          [0, '#ffb060', 0.12],
          [0.45, '#7a2f4a', 0.12],
          [1, '#0c0526', 0.72],
        ],
        0.5,
        0.5,
        0.72,
      ),
    }),
    group({ filter: cutEdge(sheet, 1.6) }, story(sheet)),
    path(
      run([
        [528, 270],
        [672, 270],
        [980, 690],
        [420, 690],
      ]),
      {
        fill: sheet.linear([
          [0, '#8fa0ff', 0.34],
          [1, '#8fa0ff', 0],
        ]),
        style: 'mix-blend-mode:screen',
        filter: blur(sheet, 14),
      },
    ),
    ...lamps,
    listeners(),
    finishCoat(sheet, '#0d0616', 0.6),
  )
}
