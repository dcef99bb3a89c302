import type { Look, Palette } from '@atrium/web/share/theme'
import type { Typeface } from './card-fonts.ts'

export const CARD = { width: 1200, height: 630 }
const WIDEST = 2 * CARD.width

/** The width at which to decode a picture of this shape, so that it fills a card without being enlarged. */
export function cardPictureWidth({ width, height }: { width: number; height: number }): number {
  return Math.min(WIDEST, Math.max(CARD.width, Math.ceil((CARD.height * width) / height)))
}

export type CardRequest = {
  title: string
  /** The collection's name, above the title. */
  subtitle?: string | undefined
  excerpts?: ReadonlyArray<{ text: string; author?: string | undefined }> | undefined
  /** Encoded by a picture process, and so trusted. */
  picture?: Uint8Array | undefined
  /** As in a collection's metadata: the name of a theme, or an object of colours. */
  theme?: unknown
  /** `default`, `cover`, `quotes` or `title`; any other name means the default. */
  template?: string | undefined
  /** The title's language, if it is known. */
  lang?: string | undefined
}

/** A validated request: clean text, checked colours and re-encoded pictures. */
export type Card = {
  title: string
  subtitle: string | undefined
  excerpts: ReadonlyArray<{ text: string; author: string | undefined }>
  lang: string | undefined
  look: Look
  palette: Palette
  face: Typeface
  /** Derived from the words, so that cards without a picture differ. */
  seed: string
}
