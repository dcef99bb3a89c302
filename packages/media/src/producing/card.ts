import type { Look, Palette } from '@atrium/web/share/theme'
import type { Typeface } from './card-fonts.ts'

export const CARD = { width: 1200, height: 630 }
const WIDEST = 2 * CARD.width

/** How wide a picture of this shape is to be read, so that it fills a card without being enlarged. */
export function cardPictureWidth({ width, height }: { width: number; height: number }): number {
  return Math.min(WIDEST, Math.max(CARD.width, Math.ceil((CARD.height * width) / height)))
}

export type CardRequest = {
  title: string
  /** The collection's name, over the title. */
  subtitle?: string | undefined
  excerpts?: ReadonlyArray<{ text: string; author?: string | undefined }> | undefined
  /** Encoded by a picture process: nothing that a stranger sent. */
  picture?: Uint8Array | undefined
  /** As in a collection's metadata: a theme's name, or an object of colours. */
  theme?: unknown
  /** `default`, `cover`, `quotes`, `title`; another name is the default. */
  template?: string | undefined
  /** The title's language, where it is known. */
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
  /** Chosen by the words, so that no two cards without a picture look alike. */
  seed: string
}
