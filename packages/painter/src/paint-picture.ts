import { compose } from './compose.ts'
import { createRandom } from './random.ts'
import { encodePng } from './raster/encode.ts'
import { readPrompt } from './reading/read-prompt.ts'
import type { StyleName, Weather } from './reading/reading.ts'
import { STYLE_OF } from './styles/styles.ts'

/** Increase this number when the same request would give other pixels. */
export const painterVersion = '2'

export type PaintRequest = { prompt: string; width: number; height: number; seed: number }
export type Picture = { png: Uint8Array; style: StyleName; alt: string }

/**
 * Reads the prompt, composes the picture and paints it. The same request gives the same picture, byte for byte, as
 * long as this code and sharp stay the same.
 */
export async function paintPicture({ prompt, width, height, seed }: PaintRequest): Promise<Picture> {
  const words = prompt.normalize('NFC').replaceAll(/\s+/gu, ' ').trim()
  const random = createRandom(`${words}\u0000${seed}\u0000${width}x${height}`)
  const reading = readPrompt(words, random.fork('reading'))
  const composed = compose(reading, random, width, height)
  const style = STYLE_OF[reading.style]
  const canvas = await style.paint(composed.picture)
  return {
    png: await encodePng(canvas),
    style: reading.style,
    alt: describe(style.words, composed.words, composed.light, reading.weather),
  }
}

/** Names only what was drawn, in the painter's own words, because the prompt may have requested more. */
function describe(style: string, words: readonly string[], light: string, weather: Weather): string {
  const last = words.length > 1 ? ` and ${words.at(-1)}` : ''
  const things = `${words.slice(0, words.length > 1 ? -1 : 1).join(', ')}${last}`
  const falling: Record<Weather, string> = {
    clear: '',
    rain: ', rain',
    snow: ', falling snow',
    storm: ', a storm',
    mist: ', mist',
  }
  return `${capital(style)}: ${things}. ${capital(light)}${falling[weather]}.`
}

function capital(words: string): string {
  return words.replace(/^./, (letter) => letter.toUpperCase())
}
