import { mix, toHex, type Colour } from '@atrium/web/share/colour'
import { directionOf } from '@atrium/web/share/writing-system'
import type { Node, RgbaImage } from '@takumi-rs/core'
import { drawMotif } from '../card-motif.ts'
import { box, label, picture, titleText } from '../card-parts.ts'
import type { Card } from '../card.ts'

const INK: Colour = [8, 9, 14]
const LIGHT: Colour = [250, 250, 252]

/**
 * The picture fills the card. The words are on its lower part, which is darkened until they are legible on any
 * picture.
 */
export async function coverLayout(
  card: Card,
  image: ((width: number, height: number) => Promise<RgbaImage>) | undefined,
): Promise<Node> {
  const back = image ? await image(1200, 630) : await drawMotif(card, 1200, 630)
  const title = await titleText(card, { width: 1072, height: 292, sizes: [92, 80, 68, 58, 50, 42], colour: toHex(LIGHT) })
  const top = 630 - 56 - title.height
  const end = directionOf(card.title) === 'rtl' ? 'flex-end' : 'flex-start'
  const dark = (share: number): string => `rgba(${INK.join(', ')}, ${share})`
  const clear = Math.max(0, ((top - 190) / 630) * 100)
  return {
    type: 'container',
    style: { display: 'flex', position: 'relative', width: 1200, height: 630, overflow: 'hidden' },
    children: [
      box(0, 0, 1200, 630, {}, picture(back)),
      box(0, 0, 1200, 630, {
        backgroundImage: `linear-gradient(to bottom, ${dark(0.05)} 0%, ${dark(0.12)} ${clear}%, ${dark(0.72)} ${clear + 26}%, ${dark(0.9)} 100%)`,
      }),
      box(64, top - 78, 1072, 56, { justifyContent: end, alignItems: 'center' }, await label(card, 1072, mix(INK, LIGHT, 0.86))),
      box(64, top, 1072, title.height + 20, { justifyContent: end }, title.node),
    ],
  }
}
