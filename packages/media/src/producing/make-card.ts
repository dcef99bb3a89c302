import { cleanLine } from '@atrium/web/share/clean-text'
import { readTheme } from '@atrium/web/share/theme'
import type { Node, RgbaImage } from '@takumi-rs/core'
import sharp from 'sharp'
import { cardRenderer, familiesFrom, type Typeface } from './card-fonts.ts'
import { coverLayout } from './card-layouts/cover.ts'
import { defaultLayout } from './card-layouts/default.ts'
import { quotesLayout } from './card-layouts/quotes.ts'
import { titleLayout } from './card-layouts/title.ts'
import { toRgba } from './card-motif.ts'
import { CARD, type Card, type CardRequest } from './card.ts'
import { guarded, openPicture } from './open-picture.ts'

const MAX_TITLE = 240
const MAX_LINE = 120
const MAX_EXCERPT = 420
const FACES: Record<Card['look'], Typeface> = { house: 'Literata', plain: 'Inter', paper: 'Literata', neon: 'Space Grotesk' }

type Picture = (width: number, height: number) => Promise<RgbaImage>
type Layout = (card: Card, image: Picture | undefined) => Promise<Node>
const LAYOUTS: ReadonlyMap<string, Layout> = new Map<string, Layout>([
  ['default', defaultLayout],
  ['cover', coverLayout],
  ['quotes', quotesLayout],
  ['title', titleLayout],
])

/** Draws a card: a PNG of 1200×630, the same for the same request. Throws ProduceError for an invalid picture. */
export async function makeCard(request: CardRequest): Promise<{ png: Buffer; width: number; height: number }> {
  const card = readCard(request)
  const layout = LAYOUTS.get(request.template ?? '') ?? defaultLayout
  const node = await layout(card, request.picture && cropTo(request.picture))
  const renderer = await cardRenderer()
  const raw = await renderer.render(node, { ...CARD, format: 'raw', fontFamilies: familiesFrom(card.face) })
  const png = await sharp(raw, { raw: { ...CARD, channels: 4 } })
    .removeAlpha()
    .png({ compressionLevel: 7 })
    .toBuffer()
  return { png, ...CARD }
}

function readCard({ title, subtitle, excerpts = [], theme, lang }: CardRequest): Card {
  const read = readTheme(theme)
  const words = cleanLine(title, MAX_TITLE) ?? ''
  return {
    title: words,
    subtitle: cleanLine(subtitle, MAX_LINE),
    excerpts: excerpts.slice(0, 4).flatMap(({ text, author }) => {
      const clean = cleanLine(text, MAX_EXCERPT)
      return clean ? [{ text: clean, author: cleanLine(author, MAX_LINE) }] : []
    }),
    lang: lang !== undefined && /^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*$/.test(lang) ? lang : undefined,
    look: read.look,
    palette: 'palette' in read ? read.palette : read.light,
    face: FACES[read.look],
    seed: words,
  }
}

/** Crops the picture to its most interesting part, at the requested size. */
function cropTo(bytes: Uint8Array): Picture {
  return async (width, height) => {
    const { image } = await openPicture(bytes)
    return guarded(toRgba(image.resize(width, height, { fit: 'cover', position: 'attention' })))
  }
}
