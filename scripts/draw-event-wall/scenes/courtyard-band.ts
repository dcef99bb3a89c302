/** The bandstand and who plays in it. */
import { person, stand, type Person } from '../lib/people.ts'
import { d, ellipse, group, path, rect, run, Sheet } from '../lib/svg.ts'
import { cutEdge, glow } from '../lib/surface.ts'
import { ground, stageX } from './courtyard.ts'

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

export function bandstand(sheet: Sheet): string {
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
