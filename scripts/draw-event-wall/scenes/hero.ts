/** The quay on the Long Night: the library across the canal, and the boats. */
import { random } from '../lib/random.ts'
import { d, ellipse, group, path, rect, run, Sheet, type Point } from '../lib/svg.ts'
import { blur, cloud, cutEdge, finishCoat, glow } from '../lib/surface.ts'
import { houses, skyline } from '../lib/houses.ts'
import { library } from '../lib/library.ts'
import { grass, stars, tree } from '../lib/nature.ts'
import { boat, flames, globe } from '../lib/lanterns.ts'
import { stand } from '../lib/people.ts'
import { bench, grownUp, smallOne } from '../lib/seated.ts'
import { crests, water } from '../lib/water.ts'
import { quay, line, middle, promenade, crowd, lampsAndTrees } from './hero-promenade.ts'

function sky(sheet: Sheet): string {
  const rng = random(41)
  const air = sheet.linear([
    [0, '#080d2c'],
    [0.22, '#161d53'],
    [0.42, '#363479'],
    [0.56, '#71508a'],
    [0.66, '#b56c85'],
    [0.75, '#e69b80'],
    [1, '#f9c98f'],
  ])
  const veil = sheet.mask(
    rect(-60, -60, 1720, 700, {
      fill: sheet.linear([
        [0, '#000'],
        [0.35, '#777'],
        [0.75, '#fff'],
        [1, '#555'],
      ]),
    }),
  )
  return group(
    {},
    rect(-60, -60, 1720, 720, { fill: air }),
    stars(sheet, rng, 340, 430),
    group({ mask: veil }, cloud(sheet, { colour: [216, 130, 150], frequency: '0.0016 0.0085', seed: 8, cover: -0.12 })),
    group(
      { mask: veil, opacity: 0.75 },
      cloud(sheet, { colour: [38, 38, 98], frequency: '0.0022 0.011', seed: 31, cover: -0.1 }),
    ),
    glow(sheet, 372, 250, 330, '#b9c4ff', 0.42),
    glow(sheet, 372, 250, 120, '#fff3d6', 0.5),
    ellipse(372, 250, 41, 41, {
      fill: sheet.radial(
        [
          [0, '#fffdf2'],
          [0.8, '#fbeecb'],
          [1, '#efd9b0'],
        ],
        0.42,
        0.42,
        0.62,
      ),
    }),
    group(
      { fill: '#d9c59c', opacity: 0.22 },
      ellipse(360, 240, 12, 9, {}),
      ellipse(384, 258, 9, 11, {}),
      ellipse(366, 268, 7, 5, {}),
      ellipse(388, 234, 5, 4, {}),
    ),
  )
}

function town(sheet: Sheet): string {
  const rng = random(7)
  const walls = [
    ['#2b2b63', '#5a3f66'],
    ['#343068', '#7a4d63'],
    ['#27305f', '#4f4468'],
    ['#3c2f63', '#84505a'],
    ['#2a3767', '#54506f'],
  ] as const
  return group(
    {},
    skyline(sheet, random(12), quay - 70, '#6d5285', 1600),
    rect(-60, 420, 1720, 230, {
      fill: sheet.linear([
        [0, '#e59a80', 0],
        [1, '#dd9287', 0.55],
      ]),
    }),
    skyline(sheet, random(19), quay - 10, '#463c74', 1600),
    group(
      { filter: cutEdge(sheet, 3) },
      houses(sheet, rng, { from: -40, to: 612, base: quay, tall: [165, 250], walls, lit: 0.46, moonFrom: -1 }),
      houses(sheet, random(29), { from: 1200, to: 1660, base: quay, tall: [150, 235], walls, lit: 0.42, moonFrom: -1 }),
    ),
    group({ filter: cutEdge(sheet, 1.6) }, library(sheet, random(4), middle, quay)),
  )
}

function boats(sheet: Sheet): string {
  const rng = random(100)
  const fleet: { x: number; y: number }[] = []
  for (let attempt = 0; attempt < 900 && fleet.length < 46; attempt++) {
    const near = rng.next() ** 1.15
    const y = line + 14 + near * 270
    const drift = middle - 60 - near * 330
    const x = drift + (rng.next() + rng.next() - 1) * (190 + near * 620)
    const room = 20 + near * 74
    if (x < 150 + near * 60 || x > 1560 || (x > 1130 && y > 830)) continue
    if (fleet.some((other) => Math.hypot((other.x - x) * 0.7, (other.y - y) * 1.7) < room)) continue
    fleet.push({ x, y })
  }
  fleet.sort((one, other) => one.y - other.y)
  return fleet.map(({ x, y }) => boat(sheet, x, y, 5 + ((y - line) / 300) * 26, rng.pick(flames), rng.range(-5, 5))).join('')
}

function nearBank(sheet: Sheet): string {
  const rng = random(58)
  const ground = (x: number): number => (x < 800 ? 968 + x * 0.12 : 1030 - 150 / (1 + Math.exp((1190 - x) / 60)))
  const edge: Point[] = Array.from({ length: 60 }, (_, step) => [step * 29 - 40, ground(step * 29 - 40)])
  const sit = (figure: string, x: number, y: number, size = 1): string =>
    stand(figure, x, y, size * 100, { fill: '#0c0a20', rim: '#ffab66', from: [-2.6, -1.4] })
  return group(
    {},
    path(run([...edge, [1660, 1060], [-60, 1060]]), {
      fill: sheet.linear([
        [0, '#1d1536'],
        [1, '#080818'],
      ]),
      filter: cutEdge(sheet, 6),
    }),
    grass(rng, 820, 1640, ground, 34, ['#0f0d26', '#171231', '#2a1b3b', '#0b0a1e'], 2.4),
    grass(rng, -20, 380, ground, 44, ['#0f0d26', '#171231', '#241a3b'], 3),
    path(d`M1196 985V742q0 -26 26 -26q22 0 22 20`, { fill: 'none', stroke: '#0c0a20', 'stroke-width': 6 }),
    globe(sheet, 1244, 790, 27, flames[0], 8),
    sit(grownUp('hat'), 1492, 892),
    sit(grownUp('bun'), 1396, 898, 0.92),
    sit(smallOne(true), 1314, 896, 0.86),
    sit(bench(330), 1404, 930),
    grass(rng, 1200, 1640, (x) => ground(x) + 34, 40, ['#0a0920', '#100e26', '#1c1430'], 2.2),
  )
}

function overhead(sheet: Sheet): string {
  const rng = random(64)
  const bark = '#0b0a20'
  const bough = path('M-80 96C40 92 120 40 240 44C350 48 420 20 560 34C440 34 360 72 250 72C150 72 60 140-80 168Z', {
    fill: bark,
  })
  const twigs = (
    [
      [60, 96, 104, 190],
      [150, 56, 62, 170],
      [250, 58, 112, 210],
      [352, 54, 76, 180],
      [430, 40, 124, 150],
      [500, 34, 88, 140],
      [300, 44, 8, 150],
      [110, 70, -4, 160],
      [420, 34, 28, 140],
    ] as const
  ).map(([x, y, turn, tall]) =>
    group(
      { transform: `translate(${x} ${y}) rotate(${turn})` },
      tree(rng, {
        x: 0,
        y: 0,
        tall,
        spread: 0.5,
        bark,
        leaves: ['#0f0d28', '#1a1434', '#2f1c3f', '#54283f', '#8a4438', '#b8623a'],
        thick: 4,
        leaf: 6.4,
        depth: 4,
      }),
    ),
  )
  const hung: readonly (readonly [x: number, y: number, r: number, flame: number, from: number])[] = [
    [78, 292, 34, 0, 90],
    [182, 232, 24, 1, 110],
    [258, 300, 20, 2, 62],
    [424, 206, 18, 3, 120],
    [500, 214, 16, 4, 90],
  ]
  const lights = hung.map(
    ([x, y, r, flame, from]) =>
      path(d`M${x} ${y - r}V${from}`, { stroke: bark, 'stroke-width': 1.8 }) +
      globe(sheet, x, y, r, flames[flame] ?? flames[0], 5.2),
  )
  return group({}, bough, ...twigs, ...lights)
}

export function hero(): string {
  const sheet = new Sheet(1600, 1000)
  const world = group({ id: 'world' }, sky(sheet), town(sheet), promenade(sheet), lampsAndTrees(sheet), crowd(sheet))
  const rng = random(90)
  const warm = (x: number): number => Math.max(0, 1 - Math.abs(x - middle) / 420)
  const body = [
    world,
    water(sheet, {
      of: 'world',
      line,
      tint: [
        [0, '#f2dfe6'],
        [0.3, '#c4b4da'],
        [0.7, '#7d80bd'],
        [1, '#3c4584'],
      ],
    }),
    crests(sheet, rng, line, 520, (x) => (rng.chance(warm(x) * 0.8) ? '#ffc27a' : rng.chance(0.5) ? '#8f9be0' : '#3f4f9c')),
    group({ filter: blur(sheet, 6, 2), opacity: 0.5 }, rect(-60, line - 3, 1720, 7, { fill: '#ffcf9a', opacity: 0.5 })),
    boats(sheet),
    overhead(sheet),
    nearBank(sheet),
    finishCoat(sheet),
  ]
  return sheet.finish(...body)
}
