/** The promenade before the library: its crowd, lamps and trees. */
import { random } from '../lib/random.ts'
import { ellipse, group, path, rect, run, Sheet, type Point } from '../lib/svg.ts'
import { glow } from '../lib/surface.ts'
import { tree } from '../lib/nature.ts'
import { garland } from '../lib/lanterns.ts'
import { person, stand, townsfolk } from '../lib/people.ts'

export const quay = 640

export const middle = 905
export const line = 692

export function promenade(sheet: Sheet): string {
  const rng = random(77)
  const parts: string[] = []
  parts.push(
    rect(-60, quay - 6, 1720, 24, {
      fill: sheet.linear(
        [
          [0, '#4c3a5e'],
          [0.3, '#7b5560'],
          [0.55, '#d9975f'],
          [0.72, '#8a5d60'],
          [1, '#4c3a5e'],
        ],
        [0, 0, 1, 0],
      ),
    }),
  )
  parts.push(
    rect(-60, quay + 18, 1720, 40, {
      fill: sheet.linear(
        [
          [0, '#33284f'],
          [0.4, '#4f3a57'],
          [0.56, '#7d5555'],
          [0.72, '#50395a'],
          [1, '#2b2450'],
        ],
        [0, 0, 1, 0],
      ),
    }),
  )
  for (let row = 0; row < 3; row++) {
    for (let x = -60; x < 1660; x += rng.range(22, 44))
      parts.push(rect(x, quay + 19 + row * 12, 1.3, 11, { fill: '#191538', opacity: 0.7 }))
    parts.push(rect(-60, quay + 18 + row * 12, 1720, 1.2, { fill: '#191538', opacity: 0.7 }))
  }
  parts.push(
    rect(-60, quay + 13, 1720, 6, {
      fill: sheet.linear(
        [
          [0, '#6a5172'],
          [0.56, '#f2bb7c'],
          [1, '#5a4a70'],
        ],
        [0, 0, 1, 0],
      ),
    }),
  )
  const steps: Point[] = [
    [middle - 74, quay + 14],
    [middle + 74, quay + 14],
    [middle + 104, line + 4],
    [middle - 104, line + 4],
  ]
  parts.push(path(run(steps), { fill: '#5b3d4f' }))
  for (let step = 0; step < 6; step++)
    parts.push(
      rect(middle - 76 - step * 5.4, quay + 15 + step * 8, 152 + step * 10.8, 3.4, {
        fill: '#f0b072',
        opacity: 0.9 - step * 0.09,
      }),
    )
  parts.push(glow(sheet, middle, quay + 20, 330, '#ffb45c', 0.5, 0.22))
  return group({}, ...parts)
}

export function crowd(sheet: Sheet): string {
  const rng = random(1926)
  const parts: string[] = []
  for (let x = 30; x < 1590; x += rng.range(9, 34)) {
    const away = Math.abs(x - middle)
    if (away > 330 && rng.chance(0.45)) continue
    if (away < 60 && rng.chance(0.6)) continue
    const who = rng.pick(townsfolk)
    const depth = rng.range(-3, 9)
    const tall = (who.child === true ? 31 : 46) * rng.range(0.92, 1.06) * (1 + depth * 0.012)
    const from: Point = x < middle ? [4, -1.5] : [-4, -1.5]
    parts.push(
      stand(
        person(who),
        x,
        quay + 6 + depth,
        tall,
        { fill: away < 380 ? '#2c1832' : '#1a1638', rim: away < 380 ? '#ffb765' : '#8d6a86', from },
        rng.chance(0.5),
      ),
    )
    if (rng.chance(0.3)) {
      const at = quay - 16 + rng.range(-5, 5)
      parts.push(
        ellipse(x + 8, at, 3.4, 4.2, { fill: rng.pick(['#ffe0a0', '#ffb870', '#ff9a6a']) }),
        glow(sheet, x + 8, at, 34, '#ffab58', 0.75),
      )
    }
  }
  for (const [dx, dy, tall] of [
    [-62, 24, 44],
    [-40, 34, 45],
    [52, 26, 44],
    [70, 38, 33],
    [22, 44, 30],
  ] as const) {
    parts.push(
      stand(person(rng.pick(townsfolk)), middle + dx, quay + dy + 6, tall, { fill: '#2c1832', rim: '#ffcf8a', from: [-3, -2] }),
    )
  }
  return group({}, ...parts)
}

export function lampsAndTrees(sheet: Sheet): string {
  const rng = random(3)
  const parts: string[] = []
  const leaves = ['#5b3557', '#7e4556', '#a4584f', '#3b2a52', '#c9764e'] as const
  for (const x of [590, 1228, 1452, 232])
    parts.push(
      tree(rng, {
        x,
        y: quay + 8,
        tall: rng.range(215, 250),
        spread: 0.5,
        bark: '#1f1638',
        leaves,
        thick: 5,
        leaf: 4.4,
        depth: 6,
      }),
    )
  for (const x of [110, 380, 700, 1110, 1345, 1545]) {
    parts.push(
      rect(x - 1.6, quay - 84, 3.2, 96, { fill: '#15122e' }),
      path(
        run([
          [x - 8, quay - 104],
          [x + 8, quay - 104],
          [x + 5, quay - 84],
          [x - 5, quay - 84],
        ]),
        { fill: '#ffeebc' },
      ),
      path(
        run([
          [x - 10, quay - 104],
          [x, quay - 114],
          [x + 10, quay - 104],
        ]),
        { fill: '#15122e' },
      ),
      glow(sheet, x, quay - 94, 84, '#ffbd66', 0.8),
    )
  }
  const wires: readonly (readonly [Point, Point, number, number])[] = [
    [[590, 470], [middle - 46, 356], 46, 22],
    [[middle + 46, 356], [1228, 468], 46, 22],
    [[232, 476], [590, 480], 44, 22],
    [[1228, 468], [1452, 470], 36, 15],
    [[1452, 470], [1680, 420], 36, 14],
    [[-40, 450], [232, 476], 40, 16],
  ]
  for (const [from, to, sag, bulbs] of wires) parts.push(garland(sheet, rng, from, to, sag, bulbs, 2.3))
  return group({}, ...parts)
}
