/** The courtyard after nine: the bandstand, the lights, everybody dancing. */
import { random } from '../lib/random.ts'
import { flames, garland, globe } from '../lib/lanterns.ts'
import { stars, tree } from '../lib/nature.ts'
import { person, stand, townsfolk, type Person } from '../lib/people.ts'
import { grownUp, smallOne } from '../lib/seated.ts'
import { d, ellipse, group, path, rect, run, Sheet, type Point } from '../lib/svg.ts'
import { blur, cloud, cutEdge, finishCoat, glow } from '../lib/surface.ts'
import { window } from '../lib/windows.ts'

const ground = 560
const stageX = 600

function courtyard(sheet: Sheet): string {
  const rng = random(6)
  const parts = [
    rect(-60, -60, 1320, 700, {
      fill: sheet.linear([
        [0, '#120a34'],
        [0.4, '#3a1d5c'],
        [0.7, '#7c3a6c'],
        [1, '#c8666a'],
      ]),
    }),
    stars(sheet, rng, 170, 280),
    group({ opacity: 0.7 }, cloud(sheet, { colour: [180, 84, 130], frequency: '0.002 0.009', seed: 12, cover: -0.2 })),
  ]
  const wing = (x: number, w: number, columns: number): void => {
    parts.push(
      rect(x, 190, w, 380, {
        fill: sheet.linear([
          [0, '#2e1c50'],
          [0.6, '#5c3054'],
          [1, '#a05a50'],
        ]),
      }),
    )
    parts.push(
      rect(x - 8, 178, w + 16, 14, { fill: '#6d4470' }),
      path(
        run([
          [x - 10, 178],
          [x + 26, 120],
          [x + w - 26, 120],
          [x + w + 10, 178],
        ]),
        { fill: '#22164a' },
      ),
    )
    for (let column = 0; column < columns; column++) {
      const wx = x + (w / columns) * (column + 0.5)
      parts.push(window(sheet, rng, wx - 15, 214, 30, 52, { lit: rng.chance(0.7), surround: '#7d5070' }))
      parts.push(
        window(sheet, rng, wx - 24, 306, 48, 170, { lit: true, arch: true, inside: true, surround: '#9a6470', bars: '#4a2038' }),
      )
    }
  }
  wing(-50, 400, 5)
  wing(850, 400, 5)
  return group({ filter: cutEdge(sheet, 1.8) }, ...parts)
}

const horn = (points: string): string =>
  path(points, { fill: 'none', stroke: 'currentColor', 'stroke-width': 2.6, 'stroke-linejoin': 'round' })

/** Left to right: trumpet, tuba, accordion, trombone, drum. */
const band: readonly (readonly [Person, number])[] = [
  [
    {
      head: 'cap',
      arms: [
        [
          [-16, -70],
          [8, -86],
        ],
        [
          [18, -74],
          [16, -87],
        ],
      ],
      holding: horn('M4-90H30') + path('M28-90L42-98V-82Z', { fill: 'currentColor' }),
      legs: [
        [
          [-6, -24],
          [-8, -2],
        ],
        [
          [6, -24],
          [9, -2],
        ],
      ],
    },
    -128,
  ],
  [
    {
      head: 'hat',
      wear: 'coat',
      arms: [
        [
          [-18, -66],
          [-6, -58],
        ],
        [
          [18, -66],
          [8, -54],
        ],
      ],
      holding:
        ellipse(2, -60, 17, 21, { fill: 'currentColor' }) +
        path('M8-60C20-72 15-92 21-102L11-113Q26-121 43-110L33-101C32-84 32-66 18-56Z', { fill: 'currentColor' }),
    },
    -66,
  ],
  [
    {
      head: 'curls',
      wear: 'skirt',
      arms: [
        [
          [-24, -68],
          [-20, -56],
        ],
        [
          [24, -68],
          [20, -56],
        ],
      ],
      holding: path('M-20-76L-8-70H8L20-76V-48L8-54H-8L-20-48Z', { fill: 'currentColor' }),
    },
    0,
  ],
  [
    {
      head: 'short',
      lean: -5,
      arms: [
        [
          [-15, -68],
          [-6, -86],
        ],
        [
          [20, -72],
          [30, -82],
        ],
      ],
      holding: horn('M-22-86H46a5 5 0 0 1 0 9H10') + path('M-20-86L-36-96V-76Z', { fill: 'currentColor' }),
    },
    64,
  ],
  [
    {
      head: 'bun',
      arms: [
        [
          [-19, -70],
          [-10, -54],
        ],
        [
          [20, -78],
          [16, -96],
        ],
      ],
      holding:
        ellipse(4, -46, 22, 12, { fill: 'currentColor' }) +
        rect(-18, -46, 44, 24, { fill: 'currentColor' }) +
        ellipse(4, -22, 22, 9, { fill: 'currentColor' }),
    },
    132,
  ],
]

function bandstand(sheet: Sheet): string {
  const x = stageX
  const floor = ground - 34
  const opening = sheet.clip(rect(x - 196, floor - 232, 392, 236, {}))
  const parts: string[] = []
  parts.push(glow(sheet, x, floor - 90, 520, '#ff9a4a', 0.75))
  parts.push(
    rect(x - 196, floor - 232, 392, 236, {
      fill: sheet.radial(
        [
          [0, '#fff3c8'],
          [0.4, '#ffcf7d'],
          [1, '#e8743f'],
        ],
        0.5,
        0.6,
        0.65,
      ),
    }),
  )
  for (let ray = -6; ray <= 6; ray++)
    parts.push(
      path(
        run([
          [x, floor - 60],
          [x + ray * 64 - 10, floor - 236],
          [x + ray * 64 + 10, floor - 236],
        ]),
        { fill: '#fff6d8', opacity: 0.14, 'clip-path': opening },
      ),
    )
  for (const [who, dx] of band)
    parts.push(
      stand(person(who), x + dx, floor + 2, who.head === 'hat' ? 150 : 140, {
        fill: '#3a1030',
        rim: '#ffe9b0',
        from: [dx < 0 ? 1.4 : -1.4, -1],
      }),
    )
  parts.push(
    rect(x - 214, floor, 428, 46, {
      fill: sheet.linear([
        [0, '#6d2c44'],
        [1, '#2a1033'],
      ]),
    }),
    rect(x - 222, floor - 4, 444, 9, { fill: '#e89a5c' }),
  )
  for (let slat = 0; slat < 27; slat++) parts.push(rect(x - 208 + slat * 16, floor + 6, 2, 40, { fill: '#1d0a28', opacity: 0.6 }))
  for (const dx of [-204, -104, 104, 204])
    parts.push(
      rect(x + dx - 5, floor - 236, 10, 240, {
        fill: sheet.linear(
          [
            [0, '#5c2440'],
            [0.5, '#e58a50'],
            [1, '#4a1c3c'],
          ],
          [0, 0, 1, 0],
        ),
      }),
    )
  parts.push(
    path(
      d`M${x - 244} ${floor - 226}C${x - 160} ${floor - 262} ${x - 110} ${floor - 316} ${x} ${floor - 330}C${x + 110} ${floor - 316} ${x + 160} ${floor - 262} ${x + 244} ${floor - 226}Z`,
      {
        fill: sheet.linear([
          [0, '#2f6a70'],
          [0.6, '#454a80'],
          [1, '#a8525e'],
        ]),
      },
    ),
  )
  for (const dx of [-150, -78, 0, 78, 150])
    parts.push(
      path(d`M${x} ${floor - 330}Q${x + dx * 0.9} ${floor - 290} ${x + dx * 1.4} ${floor - 228}`, {
        fill: 'none',
        stroke: '#1a1440',
        'stroke-width': 1.8,
        opacity: 0.6,
      }),
    )
  parts.push(
    path(
      d`M${x - 244} ${floor - 226}C${x - 160} ${floor - 262} ${x - 110} ${floor - 316} ${x} ${floor - 330}C${x + 110} ${floor - 316} ${x + 160} ${floor - 262} ${x + 244} ${floor - 226}`,
      { fill: 'none', stroke: '#ffb878', 'stroke-width': 2.4, opacity: 0.8 },
    ),
  )
  for (let scallop = 0; scallop < 20; scallop++)
    parts.push(
      path(d`M${x - 244 + scallop * 24.4} ${floor - 227}h24.4q-12.2 26 -24.4 0Z`, {
        fill: scallop % 2 === 0 ? '#f2c078' : '#a8384c',
      }),
    )
  parts.push(
    path(d`M${x} ${floor - 330}v-34`, { stroke: '#1a1440', 'stroke-width': 3 }),
    path(d`M${x + 2} ${floor - 364}l30 8l-30 10Z`, { fill: '#f2c078' }),
  )
  return group({ filter: cutEdge(sheet, 1.4) }, ...parts)
}

function cobbles(sheet: Sheet): string {
  const rng = random(44)
  const parts = [
    rect(-60, ground - 6, 1320, 480, {
      fill: sheet.linear([
        [0, '#d27a56'],
        [0.25, '#8a4258'],
        [0.7, '#401f4c'],
        [1, '#1c0f34'],
      ]),
    }),
  ]
  for (let row = 0; row < 34; row++) {
    const share = row / 34
    const y = ground + share ** 1.7 * 350
    const tall = 3 + share * 17
    const wide = 9 + share * 46
    for (let x = -60 - rng.range(0, wide); x < 1260; x += wide) {
      const lit = Math.max(0, 1 - Math.abs(x - stageX) / (300 + share * 380))
      parts.push(
        rect(x, y, wide * 0.92, tall * 0.86, {
          rx: tall * 0.4,
          fill: rng.chance(lit) ? '#ffc27e' : '#150828',
          opacity: rng.range(0.04, 0.06 + lit * 0.22),
        }),
      )
    }
  }
  parts.push(glow(sheet, stageX, ground + 20, 620, '#ff9a50', 0.6, 0.28))
  return group({ filter: cutEdge(sheet, 3, 0.05) }, ...parts)
}

const lead: Person = {
  wear: 'jacket',
  head: 'short',
  lean: 3,
  arms: [
    [
      [-18, -72],
      [-6, -64],
    ],
    [
      [20, -80],
      [31, -88],
    ],
  ],
  legs: [
    [
      [-8, -24],
      [-13, -3],
    ],
    [
      [8, -24],
      [12, -2],
    ],
  ],
}
const follow: Person = {
  wear: 'skirt',
  head: 'long',
  lean: -4,
  arms: [
    [
      [-20, -82],
      [-5, -84],
    ],
    [
      [16, -72],
      [4, -76],
    ],
  ],
  legs: [
    [
      [-5, -24],
      [-4, -2],
    ],
    [
      [7, -24],
      [15, -5],
    ],
  ],
}
const leap: Person = {
  wear: 'jacket',
  head: 'curls',
  child: true,
  arms: [
    [
      [-20, -88],
      [-22, -104],
    ],
    [
      [20, -88],
      [24, -102],
    ],
  ],
  legs: [
    [
      [-10, -28],
      [-18, -12],
    ],
    [
      [10, -28],
      [8, -6],
    ],
  ],
}
const twirl: Person = {
  wear: 'skirt',
  head: 'bun',
  lean: 6,
  arms: [
    [
      [-16, -96],
      [-8, -112],
    ],
    [
      [20, -76],
      [30, -70],
    ],
  ],
  legs: [
    [
      [-4, -24],
      [-6, -2],
    ],
    [
      [8, -26],
      [18, -12],
    ],
  ],
}

function dancers(): string {
  const rng = random(9)
  const parts: string[] = []
  const spots: { x: number; y: number; kind: number }[] = []
  for (let attempt = 0; attempt < 400 && spots.length < 30; attempt++) {
    const y = ground + 12 + rng.next() ** 1.4 * 170
    const x = rng.range(60, 1140)
    if (spots.some((other) => Math.abs(other.x - x) < 44 + (y - ground) * 0.28 && Math.abs(other.y - y) < 46)) continue
    if (Math.abs(x - stageX) < 130 && y < ground + 60) continue
    spots.push({ x, y, kind: rng.pick([0, 1, 2, 0, 1, 3, 4, 4, 5]) })
  }
  spots.sort((one, other) => one.y - other.y)
  for (const { x, y, kind } of spots) {
    const tall = 88 + (y - ground) * 0.5
    const light = { fill: '#220c30', rim: '#ffb56e', from: [x < stageX ? 1.1 : -1.1, -0.9] as Point }
    const drift = (x - stageX) * 0.28
    const long = 60 + (y - ground) * 0.5
    parts.push(
      path(
        run([
          [x - tall * 0.16, y],
          [x + tall * 0.16, y],
          [x + drift + tall * 0.3, y + long],
          [x + drift - tall * 0.3, y + long],
        ]),
        { fill: '#1a0a2c', opacity: 0.34 },
      ),
    )
    if (kind <= 2)
      parts.push(
        stand(
          person({
            ...lead,
            head: rng.pick(['short', 'cap', 'hat', 'curls']),
            lean: rng.range(-3, 9),
            headTurn: rng.range(-4, 10),
          }),
          x - tall * 0.15,
          y,
          tall,
          light,
        ),
        stand(
          person({
            ...follow,
            lean: rng.range(-9, 2),
            headTurn: rng.range(-12, 4),
            head: rng.pick(['long', 'bun', 'scarf', 'curls']),
          }),
          x + tall * 0.16,
          y + 2,
          tall * 0.95,
          light,
        ),
      )
    else if (kind === 3)
      parts.push(
        stand(person(leap), x, y - 8, tall * 0.72, light),
        stand(person({ ...leap, head: 'cap' }), x + tall * 0.4, y, tall * 0.66, light, true),
      )
    else if (kind === 4) parts.push(stand(person(twirl), x, y, tall, light, x > stageX))
    else parts.push(stand(person(rng.pick(townsfolk)), x, y, tall, light))
  }
  return parts.join('')
}

function lights(sheet: Sheet): string {
  const rng = random(15)
  const mast: Point = [stageX, 162]
  const ends: readonly Point[] = [
    [-40, 60],
    [-40, 250],
    [200, -40],
    [1240, 60],
    [1240, 250],
    [1000, -40],
    [60, 330],
    [1140, 330],
  ]
  const wires = ends.map((end, at) => garland(sheet, rng, mast, end, 40 + at * 3, 20, 3, '#1a0d30'))
  const hung = (
    [
      [120, 150, 22, 0],
      [262, 96, 26, 1],
      [392, 196, 17, 3],
      [818, 190, 17, 2],
      [950, 92, 26, 4],
      [1082, 156, 22, 1],
    ] as const
  ).map(([x, y, r, flame]) => globe(sheet, x, y + 20, r, flames[flame] ?? flames[0], 5.5))
  return group({}, ...wires, ...hung)
}

function watchers(sheet: Sheet): string {
  const near = { fill: '#10071f', rim: '#f08a54' }
  const row: readonly (readonly [figure: string, x: number, y: number, size: number])[] = [
    [grownUp('bun'), 66, 886, 1.3],
    [smallOne(true), 176, 906, 1.12],
    [smallOne(false), 946, 914, 1.08],
    [grownUp('hat'), 1046, 892, 1.28],
    [grownUp('short'), 1176, 888, 1.34],
  ]
  return group(
    { filter: blur(sheet, 0.9) },
    ...row.map(([figure, x, y, size]) => stand(figure, x, y, size * 100, { ...near, from: [x < stageX ? 1.6 : -1.6, -1.5] })),
  )
}

export function courtyardDance(): string {
  const sheet = new Sheet(1200, 900)
  const rng = random(2)
  const leaves = ['#2a1140', '#4a1f4c', '#7c3448', '#b0563f', '#d98a4a'] as const
  const trees = [
    [330, ground + 6, 330],
    [872, ground + 6, 340],
  ].map(([x = 0, y = 0, tall = 0]) =>
    tree(rng, { x, y, tall, spread: 0.52, bark: '#1d0c30', leaves, thick: 4, leaf: 5, depth: 6 }),
  )
  return sheet.finish(
    courtyard(sheet),
    ...trees,
    bandstand(sheet),
    cobbles(sheet),
    lights(sheet),
    dancers(),
    watchers(sheet),
    finishCoat(sheet, '#0a0318', 0.6),
  )
}
