import { mix, toHex } from '@atrium/web/share/colour'
import type { Node } from '@takumi-rs/core'
import { box, ground, label, titleText } from '../card-parts.ts'
import type { Card } from '../card.ts'

/** Only the words, centred and as large as they fit. */
export async function titleLayout(card: Card): Promise<Node> {
  const inset = card.look === 'paper' ? 14 : 0
  const width = 1200 - inset * 2
  const title = await titleText(card, {
    width: width - 160,
    height: 330,
    sizes: [124, 108, 94, 82, 70, 60, 52, 44, 38],
    align: 'center',
  })
  const rule = toHex(mix(card.palette.background, card.palette.accent, 0.9))
  const name = await label(card, 760)
  return ground(
    card,
    box(80, 84, width - 160, 372, { flexDirection: 'column', justifyContent: 'center', alignItems: 'center' }, title.node),
    box(width / 2 - 46, 484 - inset, 92, 6, { backgroundColor: rule, borderRadius: 3 }),
    box(0, 516 - inset, width, 56, { justifyContent: 'center', alignItems: 'center' }, centred(name)),
  )
}

/** The width of the name, so that mark and name are centred together. */
function centred(node: Node): Node {
  const children = 'children' in node && node.children ? node.children : []
  return {
    type: 'container',
    style: { display: 'flex', alignItems: 'center', gap: 16, maxWidth: 900 },
    children: children.map((child) => (child.type === 'text' ? { ...child, style: { ...child.style, width: 'auto' } } : child)),
  }
}
