import { directionOf, languageOf } from '@atrium/web/share/writing-system'
import type { Node } from '@takumi-rs/core'
import type { Typeface } from './card-fonts.ts'
import { cardRenderer, familiesFrom } from './card-fonts.ts'

export type TextBox = {
  text: string
  width: number
  height: number
  /** From the preferred size down to the smallest that is legible at a glance. */
  sizes: readonly number[]
  weight: number
  colour: string
  face: Typeface
  align?: 'start' | 'center'
  /** A BCP 47 tag; without one, the language that the letters indicate. */
  lang?: string | undefined
  tracking?: number
}

export type FittedText = { node: Node; height: number; size: number }

/**
 * The largest size at which the whole text fits its box. At the smallest size, text that does not fit ends in an
 * ellipsis.
 */
export async function fitText(box: TextBox): Promise<FittedText> {
  const renderer = await cardRenderer()
  const spacing = lineHeightFor(box.text)
  for (const size of box.sizes) {
    const node = textNode(box, size, spacing)
    const { height } = await renderer.measure(wrap(node, box.width), { fontFamilies: familiesFrom(box.face), width: box.width })
    if (height <= box.height) return { node, height, size }
  }
  const size = box.sizes.at(-1) ?? 20
  const lines = Math.max(1, Math.floor(box.height / (size * spacing)))
  return { node: textNode(box, size, spacing, lines), height: lines * size * spacing, size }
}

function wrap(node: Node, width: number): Node {
  return { type: 'container', style: { display: 'flex', flexDirection: 'column', width }, children: [node] }
}

function textNode(
  { text, width, weight, colour, face, align = 'start', lang, tracking = 0 }: TextBox,
  size: number,
  spacing: number,
  lines?: number,
): Node {
  const language = lang ?? languageOf(text)
  return {
    type: 'text',
    text,
    ...(language === '' ? {} : { lang: language }),
    style: {
      width,
      fontFamily: familiesFrom(face).join(', '),
      fontSize: size,
      fontWeight: weight,
      lineHeight: spacing,
      letterSpacing: isCursive(text) ? 0 : tracking * size,
      color: colour,
      direction: directionOf(text),
      textAlign: align,
      // A word longer than a line must break somewhere, and the lines of a title should have similar lengths.
      overflowWrap: 'anywhere',
      textWrap: 'balance',
      ...(lines === undefined ? {} : { lineClamp: lines, textOverflow: 'ellipsis', overflow: 'hidden' }),
    },
  }
}

/** Letter spacing would separate joined letters. */
function isCursive(text: string): boolean {
  return /[\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}]/u.test(text)
}

/** Scripts with marks above and below need more line height. */
function lineHeightFor(text: string): number {
  if (/[\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Tamil}\p{Script=Thai}]/u.test(text)) return 1.5
  if (/[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return 1.3
  return 1.16
}
