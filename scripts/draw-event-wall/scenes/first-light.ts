/** The next morning: mist on the canal, one boat on the water, the cat on the bench. */
import { random } from '../lib/random.ts'
import { houses, skyline } from '../lib/houses.ts'
import { boat } from '../lib/lanterns.ts'
import { grass, tree } from '../lib/nature.ts'
import { bench, cat } from '../lib/seated.ts'
import { stand } from '../lib/people.ts'
import { d, ellipse, group, path, rect, run, Sheet, type Point } from '../lib/svg.ts'
import { blur, cloud, cutEdge, finishCoat, glow } from '../lib/surface.ts'
import { crests, water } from '../lib/water.ts'

const line = 520

function sky(sheet: Sheet): string {
  return group(
    {},
    rect(-60, -60, 1320, 640, {
      fill: sheet.linear([
        [0, '#5d83a8'],
        [0.3, '#93a9bf'],
        [0.55, '#d9bdb8'],
        [0.75, '#f6c9a2'],
        [0.9, '#ffe0ac'],
        [1, '#fff0c8'],
      ]),
    }),
    group({ opacity: 0.85 }, cloud(sheet, { colour: [255, 226, 200], frequency: '0.0018 0.01', seed: 21, cover: -0.05 })),
    group({ opacity: 0.55 }, cloud(sheet, { colour: [120, 120, 160], frequency: '0.0026 0.014', seed: 33, cover: -0.25 })),
    glow(sheet, 402, 338, 560, '#ffdf9a', 0.9),
    ellipse(402, 338, 38, 38, { fill: '#fffbe8' }),
    glow(sheet, 402, 338, 130, '#fff6d8', 0.9),
  )
}

const mist = (sheet: Sheet, y: number, tall: number, strength: number, fade = 0.6): string =>
  rect(-60, y, 1320, tall, {
    fill: sheet.linear([
      [0, '#fbe3c8', 0],
      [0.6, '#fbe3c8', strength],
      [1, '#fbe3c8', strength * fade],
    ]),
  })

/** The library, a long way into the light. */
function library(x: number, y: number): string {
  const bays = Array.from({ length: 9 }, (_, bay) =>
    rect(x - 138 + bay * 31, y - 86, 14, 62, { rx: 7, fill: '#8f8aa0', opacity: 0.7 }),
  )
  return group(
    { fill: '#a39bb0' },
    rect(x - 156, y - 128, 312, 140, {}),
    path(
      run([
        [x - 162, y - 128],
        [x - 138, y - 166],
        [x + 138, y - 166],
        [x + 162, y - 128],
      ]),
      { fill: '#8e8aa6' },
    ),
    rect(x - 28, y - 250, 56, 100, {}),
    rect(x - 22, y - 284, 44, 36, {}),
    path(
      d`M${x - 26} ${y - 284}C${x - 24} ${y - 306} ${x - 8} ${y - 310} ${x - 3} ${y - 328}h6C${x + 8} ${y - 310} ${x + 24} ${y - 306} ${x + 26} ${y - 284}Z`,
      { fill: '#7d9aa4' },
    ),
    path(d`M${x} ${y - 328}v-20`, { stroke: '#7d7a96', 'stroke-width': 2 }),
    ellipse(x, y - 214, 18, 18, { fill: '#f3e3cf' }),
    path(d`M${x} ${y - 214}v-13M${x} ${y - 214}l-6 7`, { stroke: '#6f6a86', 'stroke-width': 2 }),
    ...bays,
  )
}

function bank(sheet: Sheet): string {
  const walls = [
    ['#8f8ba6', '#c0a4a0'],
    ['#9c90a4', '#d0ae9e'],
    ['#8591aa', '#b8a6a6'],
  ] as const
  const pane = ['#b9b4c4', '#8a87a2', '#75748f'] as const
  const near = [
    ['#5f6485', '#8a6f7c'],
    ['#6d6382', '#9a7874'],
    ['#586a88', '#7c7484'],
  ] as const
  const wire = (from: Point, to: Point): string => {
    const flags = Array.from({ length: 15 }, (_, flag) => {
      const t = (flag + 0.5) / 15
      const x = from[0] + (to[0] - from[0]) * t
      const y = from[1] + (to[1] - from[1]) * t + 30 * 4 * t * (1 - t)
      return path(
        run([
          [x - 6, y],
          [x + 6, y],
          [x + 1, y + 13],
        ]),
        { fill: ['#c2625a', '#e0a860', '#5f8a92', '#8a6a94'][flag % 4] ?? '#c2625a' },
      )
    })
    return (
      path(d`M${from[0]} ${from[1]}Q${(from[0] + to[0]) / 2} ${(from[1] + to[1]) / 2 + 60} ${to[0]} ${to[1]}`, {
        fill: 'none',
        stroke: '#5a5672',
        'stroke-width': 1.2,
      }) + flags.join('')
    )
  }
  return group(
    {},
    skyline(sheet, random(81), line - 14, '#d0b8b4', 1200),
    mist(sheet, 360, 170, 0.7),
    group(
      { filter: cutEdge(sheet, 2) },
      houses(sheet, random(83), { from: 500, to: 640, base: line - 8, tall: [90, 130], walls, lit: 0, moonFrom: -1, pane }),
      library(770, line - 6),
    ),
    mist(sheet, 380, 150, 0.75),
    group(
      { filter: cutEdge(sheet, 2.4) },
      houses(sheet, random(86), {
        from: 930,
        to: 1270,
        base: line,
        tall: [180, 270],
        walls: near,
        lit: 0.06,
        moonFrom: -1,
        pane: ['#a9b4c8', '#6d7896', '#4f5a7c'],
      }),
    ),
    group(
      { filter: cutEdge(sheet, 2.4) },
      houses(sheet, random(88), {
        from: -60,
        to: 190,
        base: line,
        tall: [170, 250],
        walls: near,
        lit: 0.06,
        moonFrom: 1,
        pane: ['#c9bcb8', '#8a83a0', '#5f6486'],
      }),
    ),
    wire([190, 352], [560, 400]),
    rect(-60, line - 10, 1320, 14, {
      fill: sheet.linear(
        [
          [0, '#6d6480'],
          [0.36, '#f6d2a4'],
          [0.7, '#b09aa2'],
          [1, '#5f5a7c'],
        ],
        [0, 0, 1, 0],
      ),
    }),
    mist(sheet, 430, 96, 0.75),
  )
}

function geese(): string {
  return Array.from({ length: 9 }, (_, bird) => {
    const arm = bird % 2 === 0 ? 1 : -1
    const rank = Math.ceil(bird / 2)
    const x = 700 - rank * 34
    const y = 168 + arm * rank * 15 + rank * 5
    return path(
      d`M${x - 13} ${y - 5}Q${x - 5} ${y - 8} ${x} ${y}Q${x + 3} ${y - 9} ${x + 12} ${y - 8}Q${x + 5} ${y - 3} ${x + 1} ${y + 3}Q${x - 5} ${y - 3} ${x - 13} ${y - 5}Z`,
      { fill: '#4a5674' },
    )
  }).join('')
}

function foreground(sheet: Sheet): string {
  const rng = random(53)
  const dark = '#2a2a44'
  const ground = (x: number): number => 842 - 40 / (1 + Math.exp((620 - x) / 90)) + (x < 300 ? (300 - x) * 0.1 : 0)
  const edge: Point[] = Array.from({ length: 48 }, (_, step) => [step * 28 - 60, ground(step * 28 - 60)])
  const books = (
    [
      [0, '#7a3a44', 70],
      [14, '#3f5a68', 62],
      [27, '#b07a4a', 66],
      [40, '#5a4468', 52],
      [53, '#8a6a3c', 60],
      [66, '#3c4f4a', 48],
    ] as const
  ).map(
    ([up, fill, w]) =>
      rect(1004 - w / 2 + (up % 3) * 3, 736 - 15 - up, w, 12, { rx: 2, fill }) +
      rect(1004 - w / 2 + (up % 3) * 3, 736 - 13 - up, w, 1.6, { fill: '#ffd9a4', opacity: 0.6 }),
  )
  const lantern = group(
    {},
    path('M690 838q-26-6-26-30t26-30q30 2 34 30q-4 26-34 30Z', {
      fill: sheet.linear(
        [
          [0, '#d8a48a'],
          [1, '#7c5a64'],
        ],
        [0, 0, 1, 1],
      ),
    }),
    ...[792, 804, 816, 828].map((y) =>
      path(d`M${667} ${y}q26 7 54 0`, { fill: 'none', stroke: '#5a3f50', 'stroke-width': 1.4, opacity: 0.7 }),
    ),
    rect(716, 798, 6, 20, { rx: 2, fill: dark }),
  )
  const light = { fill: dark, rim: '#ffd9a0', from: [-2.4, -1.8] as Point }
  return group(
    {},
    path(run([...edge, [1260, 960], [-60, 960]]), {
      fill: sheet.linear([
        [0, '#5a5468'],
        [0.3, '#3c3a54'],
        [1, '#1f2038'],
      ]),
      filter: cutEdge(sheet, 5),
    }),
    path(run(edge, false), { fill: 'none', stroke: '#ffdca6', 'stroke-width': 2.4, opacity: 0.6, filter: blur(sheet, 1.2) }),
    grass(rng, -40, 1250, ground, 22, ['#4a4a62', '#38384f', '#6d6270', '#2c2c46'], 4),
    group({ opacity: 0.35 }, path('M760 826L1070 826L1230 900L900 900Z', { fill: '#15162c' })),
    ...books,
    stand(cat, 874, 738, 116, light),
    stand(bench(330), 930, 752, 112, light),
    lantern,
    grass(rng, 640, 1120, (x) => ground(x) + 34, 26, ['#2c2c46', '#26273f', '#3c3a54'], 4),
  )
}

export function firstLight(): string {
  const sheet = new Sheet(1200, 900)
  const rng = random(34)
  const willow = (
    [
      [1196, -20, 150, 300],
      [1120, -30, 168, 330],
      [1030, -30, 176, 240],
      [1230, 120, 200, 260],
    ] as const
  ).map(([x, y, turn, tall]) =>
    group(
      { transform: `translate(${x} ${y}) rotate(${turn})` },
      tree(rng, {
        x: 0,
        y: 0,
        tall,
        spread: 0.34,
        bark: '#2a2a44',
        leaves: ['#2f3650', '#454a60', '#6d6068', '#a0786a', '#c89a74'],
        thick: 5,
        leaf: 6,
        depth: 5,
      }),
    ),
  )
  const world = group({ id: 'world' }, sky(sheet), geese(), bank(sheet))
  return sheet.finish(
    world,
    water(sheet, {
      of: 'world',
      line,
      tint: [
        [0, '#fff4e4'],
        [0.4, '#d8d4da'],
        [1, '#8a9fb8'],
      ],
      strength: 0.75,
      seed: 40,
    }),
    crests(sheet, rng, line, 300, (x) =>
      rng.chance(Math.max(0, 1 - Math.abs(x - 402) / 240)) ? '#fff0c4' : rng.chance(0.4) ? '#c9d2e0' : undefined,
    ),
    group({ opacity: 0.5 }, mist(sheet, line - 30, 170, 0.85, 0)),
    boat(sheet, 470, 690, 36, ['#fff6e4', '#f3d9b8', '#b98a74'], -4),
    ...willow,
    foreground(sheet),
    finishCoat(sheet, '#2a2a4c', 0.42),
  )
}
