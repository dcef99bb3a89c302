/** The courtyard itself: walls, cobbles and lights. */
import { random } from '../lib/random.ts'
import { flames, garland, globe } from '../lib/lanterns.ts'
import { stars } from '../lib/nature.ts'
import { group, path, rect, run, Sheet, type Point } from '../lib/svg.ts'
import { cloud, cutEdge, glow } from '../lib/surface.ts'
import { window } from '../lib/windows.ts'

export const ground = 560

export const stageX = 600

export function courtyard(sheet: Sheet): string {
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

export function cobbles(sheet: Sheet): string {
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

export function lights(sheet: Sheet): string {
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
