/** Who dances in the courtyard, and who watches. */
import { random } from '../lib/random.ts'
import { person, stand, townsfolk, type Person } from '../lib/people.ts'
import { grownUp, smallOne } from '../lib/seated.ts'
import { group, path, run, Sheet, type Point } from '../lib/svg.ts'
import { blur } from '../lib/surface.ts'
import { ground, stageX } from './courtyard.ts'

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

export function dancers(): string {
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

export function watchers(sheet: Sheet): string {
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
