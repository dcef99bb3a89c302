import { readFile } from 'node:fs/promises'
import { Renderer } from '@takumi-rs/core'

type FontFile = { file: string; family: string; weight?: number; ranges?: [number, number][] }

const FOLDER = new URL('../../assets/fonts/', import.meta.url)
/** Scripts other than Latin, Greek and Cyrillic. Emoji come last, because that font has digits too. */
const REST = [
  'Inter',
  'Noto Sans Arabic',
  'Noto Sans Hebrew',
  'Noto Sans Devanagari',
  'Noto Sans Bengali',
  'Noto Sans Tamil',
  'Noto Sans Thai',
  'Noto Sans Georgian',
  'Noto Sans Armenian',
  'Noto Sans CJK',
  'Noto Color Emoji',
]

export type Typeface = 'Inter' | 'Literata' | 'Space Grotesk'

/** The font families for each character, in order; those of the theme come first. */
export function familiesFrom(first: Typeface): string[] {
  return [first, ...REST.filter((family) => family !== first)]
}

let opened: Promise<Renderer> | undefined

/** One renderer for the process: the fonts have 20 MB and take most of a second to load. */
export async function cardRenderer(): Promise<Renderer> {
  if (opened) return opened
  const opening = openRenderer()
  opened = opening
  // A failure is not cached: the next caller tries again.
  opening.catch(() => {
    if (opened === opening) opened = undefined
  })
  return opening
}

async function openRenderer(): Promise<Renderer> {
  const renderer = new Renderer({ cacheMaxBytes: 0 })
  const fonts = JSON.parse(await readFile(new URL('fonts.json', FOLDER), 'utf8')) as FontFile[]
  for (const { file, family, weight, ranges } of fonts) {
    await renderer.registerFont({
      name: family,
      data: await readFile(new URL(file, FOLDER)),
      ...(weight ? { weight } : {}),
      ...(ranges ? { unicodeRange: ranges } : {}),
    })
  }
  return renderer
}
