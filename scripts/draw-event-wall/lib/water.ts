/** Still water: the mirror image of what is above it, broken by ripples. */
import type { Random } from './random.ts'
import { ellipse, group, el, rect, type Sheet, type Stop } from './svg.ts'
import { ripple } from './surface.ts'

export interface Water {
  /** The id of the mirrored group, and the height of the waterline. */
  of: string
  line: number
  tint: readonly Stop[]
  strength?: number
  seed?: number
}

export function water(sheet: Sheet, { of, line, tint, strength = 1, seed = 5 }: Water): string {
  const { width, height } = sheet
  const deep = height - line
  const bands: readonly (readonly [scale: number, frequency: string, smear: string, from: number, to: number])[] = [
    [10, '0.008 0.09', '0.6 3', -0.2, 0.3],
    [26, '0.006 0.055', '1 6', 0.06, 0.62],
    [54, '0.004 0.032', '1.6 10', 0.34, 1.3],
  ]
  const layers = bands.map(([scale, frequency, smear, from, to], index) => {
    const fade = sheet.linear(
      index === 0
        ? [
            [0, '#fff'],
            [1, '#fff'],
          ]
        : [
            [0, '#000'],
            [0.5, '#fff'],
            [1, '#fff'],
          ],
    )
    const mask = sheet.mask(
      rect(-60, line + deep * from, width + 120, deep * (to - from) + (index === 2 ? 200 : 600), { fill: fade }),
    )
    const filter = ripple(sheet, scale * strength, frequency, smear, seed + index)
    return group({ filter, mask }, el('use', { href: `#${of}`, transform: `matrix(1 0 0 -1 0 ${line * 2})` }))
  })
  const clip = sheet.clip(rect(-60, line, width + 120, deep + 60, {}))
  return group(
    { 'clip-path': clip },
    ...layers,
    rect(-60, line, width + 120, deep + 60, { fill: sheet.linear(tint), style: 'mix-blend-mode:multiply' }),
  )
}

/** Thin lines of light on the crests. `colours` are by their position across the sheet. */
export function crests(
  sheet: Sheet,
  rng: Random,
  line: number,
  count: number,
  colour: (x: number, y: number) => string | undefined,
): string {
  const parts: string[] = []
  for (let crest = 0; crest < count; crest++) {
    const near = rng.next() ** 1.3
    const x = rng.range(-20, sheet.width + 20)
    const y = line + 4 + near * (sheet.height - line)
    const fill = colour(x, y)
    if (fill === undefined) continue
    const long = rng.range(5, 16) + near * rng.range(6, 46)
    parts.push(ellipse(x, y, long, 0.5 + near * 1.1, { fill, opacity: rng.range(0.08, 0.42) }))
  }
  return group({ style: 'mix-blend-mode:screen' }, ...parts)
}
