import { directionOf } from '@atrium/web/share/writing-system'
import type { Node, RgbaImage } from '@takumi-rs/core'
import { drawMotif } from '../card-motif.ts'
import { box, ground, label, picture, quote, titleText } from '../card-parts.ts'
import type { Card } from '../card.ts'

const SIDE = 470
const TEXT = 586
/** Room for descenders below the last line. */
const DESCENT = 20

/**
 * The words are on one side; the picture, the items or the arches are on the other. Right-to-left titles swap the
 * sides.
 */
export async function defaultLayout(
  card: Card,
  image: ((width: number, height: number) => Promise<RgbaImage>) | undefined,
): Promise<Node> {
  const rtl = directionOf(card.title) === 'rtl'
  const inset = card.look === 'paper' ? 14 : 0
  const height = 630 - inset * 2
  const textX = rtl ? 1200 - inset * 2 - 62 - TEXT : 62
  const sideX = rtl ? 0 : 1200 - inset * 2 - SIDE
  const title = await titleText(card, { width: TEXT, height: 372, sizes: [84, 74, 64, 56, 48, 42, 36] })
  return ground(
    card,
    box(sideX, 0, SIDE, height, { flexDirection: 'column', gap: 22 }, ...(await side(card, image, height))),
    box(textX, 58, TEXT, 60, { alignItems: 'center' }, await label(card, TEXT)),
    box(
      textX,
      140,
      TEXT,
      height - 140 - 58 + DESCENT,
      { flexDirection: 'column', justifyContent: 'flex-end', paddingBottom: DESCENT },
      title.node,
    ),
  )
}

async function side(
  card: Card,
  image: ((width: number, height: number) => Promise<RgbaImage>) | undefined,
  height: number,
): Promise<Node[]> {
  if (image) return [picture(await image(SIDE, height))]
  const excerpts = card.excerpts.slice(0, 2)
  if (excerpts.length === 0) return [picture(await drawMotif(card, SIDE, height))]
  const each = (height - 124 - (excerpts.length - 1) * 24) / excerpts.length
  const quotes = await Promise.all(excerpts.map(async (excerpt) => quote(card, excerpt, SIDE - 62, each)))
  return [
    {
      type: 'container',
      style: {
        display: 'flex',
        flexDirection: 'column',
        gap: 24,
        padding: '62px 0',
        width: SIDE - 62,
        ...(directionOf(card.title) === 'rtl' ? { marginLeft: 62 } : {}),
      },
      children: quotes,
    },
  ]
}
