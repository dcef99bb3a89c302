import { mix, toHex, type Colour } from '@atrium/web/share/colour'
import { directionOf } from '@atrium/web/share/writing-system'
import type { Node, RgbaImage } from '@takumi-rs/core'
import { archMarkPath } from '@atrium/web/share/arch'
import sharp from 'sharp'
import { toRgba } from './card-motif.ts'
import { fitText, type FittedText, type TextBox } from './card-text.ts'
import type { Card } from './card.ts'

type Style = NonNullable<Node['style']>

/** A box at a fixed position: layouts are composed by hand, and no element moves another. */
export function box(x: number, y: number, width: number, height: number, style: Style, ...children: Node[]): Node {
  return {
    type: 'container',
    style: { position: 'absolute', left: x, top: y, width, height, display: 'flex', overflow: 'hidden', ...style },
    children,
  }
}

export function picture(image: RgbaImage, style: Style = {}): Node {
  return {
    type: 'image',
    src: image,
    width: image.width,
    height: image.height,
    style: { width: image.width, height: image.height, ...style },
  }
}

export async function titleText(
  card: Card,
  given: Pick<TextBox, 'width' | 'height' | 'sizes'> & Partial<TextBox>,
): Promise<FittedText> {
  return fitText({
    text: card.title,
    weight: card.look === 'paper' ? 600 : 700,
    colour: toHex(card.palette.text),
    face: card.face,
    lang: card.lang,
    tracking: -0.022,
    ...given,
  })
}

/** The mark and the collection's name. */
export async function label(card: Card, width: number, colour: Colour = card.palette.muted): Promise<Node> {
  const mark = await archMark(colour)
  const name = card.subtitle
    ? await fitText({
        text: card.subtitle,
        width: width - 52,
        height: 46,
        sizes: [30, 26],
        weight: 500,
        colour: toHex(colour),
        face: card.face,
      })
    : undefined
  const rtl = directionOf(card.subtitle ?? card.title) === 'rtl'
  return {
    type: 'container',
    style: { display: 'flex', flexDirection: rtl ? 'row-reverse' : 'row', alignItems: 'center', gap: 16, width },
    children: [picture(mark, { flexShrink: 0 }), ...(name ? [name.node] : [])],
  }
}

async function archMark(colour: Colour): Promise<RgbaImage> {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 13 15" width="34" height="39" fill="none" stroke="${toHex(colour)}" stroke-width="1.5">${archMarkPath}</svg>`
  return toRgba(sharp(Buffer.from(svg)))
}

/** An item, on a small sheet of its own. */
export async function quote(card: Card, excerpt: Card['excerpts'][number], width: number, height: number): Promise<Node> {
  const { palette, look } = card
  const inner = width - 56
  const signed = excerpt.author ? 44 : 0
  const text = await fitText({
    text: excerpt.text,
    width: inner,
    height: height - 52 - signed,
    sizes: [36, 32, 28, 25, 22],
    weight: 400,
    colour: toHex(palette.text),
    face: card.face,
  })
  const author = excerpt.author
    ? await fitText({
        text: excerpt.author,
        width: inner,
        height: 34,
        sizes: [22, 20],
        weight: 500,
        colour: toHex(palette.muted),
        face: card.face,
      })
    : undefined
  const edge = look === 'neon' ? mix(palette.surface, palette.accent, 0.6) : mix(palette.surface, palette.text, 0.1)
  return {
    type: 'container',
    style: {
      display: 'flex',
      flexDirection: 'column',
      justifyContent: 'space-between',
      width,
      height,
      padding: '26px 28px',
      backgroundColor: toHex(look === 'paper' ? [255, 253, 248] : palette.surface),
      borderRadius: look === 'paper' ? 3 : 18,
      border: `2px solid ${toHex(edge)}`,
      overflow: 'hidden',
    },
    children: [text.node, ...(author ? [author.node] : [])],
  }
}

/** The frame of the picture: a mat in the theme paper, a glowing edge in neon; in the others only a colour. */
export function ground({ palette, look }: Card, ...children: Node[]): Node {
  const frame: Style =
    look === 'paper'
      ? { border: `14px solid #fffdf8` }
      : look === 'neon'
        ? {
            boxShadow: `inset 0 0 0 3px ${toHex(palette.accent)}, inset 0 0 90px ${toHex(mix(palette.background, palette.accent, 0.5))}`,
          }
        : {}
  return {
    type: 'container',
    style: {
      display: 'flex',
      position: 'relative',
      width: 1200,
      height: 630,
      backgroundColor: toHex(palette.background),
      overflow: 'hidden',
      ...frame,
    },
    children,
  }
}
