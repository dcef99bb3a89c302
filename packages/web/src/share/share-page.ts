import { englishText, type PageText } from '../page-text/page-text.ts'
import { cleanLine, cleanParagraphs, truncate } from './clean-text.ts'
import { readHero, type Hero, type HeroInput } from './hero.ts'
import { readTheme, type Theme } from './theme.ts'

/** All input of the public page of a collection. It contains no items and no unpublished artifacts. */
export type SharePageInput = {
  id: string
  /** Opaque JSON of the tenant. Only `share_title`, `share_description` and `theme` are read, as untrusted input. */
  metadata: unknown
  state: 'open' | 'ready' | 'closed'
  /** The published hero artifact, if there is one. */
  hero?: HeroInput | undefined
  /** A published card: the preview picture of the page if the hero is not a picture. */
  card?: HeroInput | undefined
  /** Origin of the API, such as `http://localhost:8787`; hero urls may be relative to it. */
  publicUrl: string
  /** Absolute address of this page. */
  pageUrl: string
  /** Absolute address of the oEmbed answer about this page. */
  oembedUrl: string
}

/** The validated contents of the page. */
export type SharePage = {
  title: string
  paragraphs: string[][]
  /** The description in one short line, for previews. */
  summary: string | undefined
  theme: Theme
  hero: Hero | undefined
  /** The picture of a link preview: the hero if it is a picture, else the card. */
  preview: Hero | undefined
}

export function readSharePage(input: SharePageInput, text: PageText = englishText): SharePage {
  const hero = readHero(input.hero, input.publicUrl)
  const paragraphs = cleanParagraphs(ownValue(input.metadata, 'share_description'), 2_000)
  const summary = truncate(paragraphs.flat().join(' '), 200)
  return {
    title: cleanLine(ownValue(input.metadata, 'share_title'), 200) ?? hero?.title ?? text.share.untitled,
    paragraphs,
    summary: summary || undefined,
    theme: readTheme(ownValue(input.metadata, 'theme')),
    hero,
    preview: hero?.element === 'img' ? hero : readHero(input.card, input.publicUrl),
  }
}

function ownValue(metadata: unknown, key: string): unknown {
  if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) return undefined
  return Object.hasOwn(metadata, key) ? (metadata as Record<string, unknown>)[key] : undefined
}
