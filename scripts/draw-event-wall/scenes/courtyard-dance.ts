/** The courtyard after nine: the bandstand, the lights, people dancing. */
import { random } from '../lib/random.ts'
import { tree } from '../lib/nature.ts'
import { Sheet } from '../lib/svg.ts'
import { finishCoat } from '../lib/surface.ts'
import { ground, courtyard, cobbles, lights } from './courtyard.ts'
import { bandstand } from './courtyard-band.ts'
import { dancers, watchers } from './courtyard-dancers.ts'

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
