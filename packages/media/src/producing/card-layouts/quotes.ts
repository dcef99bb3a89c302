import { directionOf } from '@atrium/web/share/writing-system'
import type { Node, RgbaImage } from '@takumi-rs/core'
import { box, ground, label, quote, titleText } from '../card-parts.ts'
import type { Card } from '../card.ts'
import { defaultLayout } from './default.ts'

/** The title is at the top, and up to four items are below it, side by side. */
export async function quotesLayout(
  card: Card,
  image: ((width: number, height: number) => Promise<RgbaImage>) | undefined,
): Promise<Node> {
  const excerpts = card.excerpts.slice(0, 4)
  if (excerpts.length === 0) return defaultLayout(card, image)
  const inset = card.look === 'paper' ? 14 : 0
  const width = 1200 - inset * 2 - 112
  const title = await titleText(card, { width, height: 150, sizes: [62, 54, 46, 40, 34] })
  const end = directionOf(card.title) === 'rtl' ? 'flex-end' : 'flex-start'
  const top = 116 + title.height + 26
  const columns = excerpts.length === 4 ? 2 : excerpts.length
  const rows = Math.ceil(excerpts.length / columns)
  const each = { width: (width - (columns - 1) * 22) / columns, height: (630 - inset * 2 - top - 48 - (rows - 1) * 22) / rows }
  const quotes = await Promise.all(
    excerpts.map(async (excerpt, index) =>
      box(
        56 + (index % columns) * (each.width + 22),
        top + Math.floor(index / columns) * (each.height + 22),
        each.width,
        each.height,
        {},
        await quote(card, excerpt, each.width, each.height),
      ),
    ),
  )
  return ground(
    card,
    box(56, 42, width, 56, { justifyContent: end, alignItems: 'center' }, await label(card, width)),
    box(56, 108, width, title.height + 14, { justifyContent: end }, title.node),
    ...quotes,
  )
}
