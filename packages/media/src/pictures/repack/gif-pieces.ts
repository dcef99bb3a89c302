import { PictureError } from '../picture-error.ts'
import { joinRanges, type Piece, type SourceFile } from './source-file.ts'

/** The application extensions with the loop count of an animation. */
const loops = new Set(['NETSCAPE2.0', 'ANIMEXTS1.0'])
const graphicControl = 0xf9
const application = 0xff

/**
 * Header, palettes, frames with their times, and how often they repeat: no comment, no plain text, no other
 * application's data.
 */
export function gifPieces(source: SourceFile, size: { width: number; height: number }): Piece[] {
  const header = source.take(0, 13)
  if (!/^GIF8[79]a$/.test(header.toString('latin1', 0, 6))) throw broken('it is no GIF')
  // Decoders go by the frames where the screen looks absurd; a browser may well make room for it.
  if (header.readUInt16LE(6) > size.width || header.readUInt16LE(8) > size.height) throw broken('its frames do not fill it')
  let at = 13 + paletteBytes(header.readUInt8(10))
  const kept = [{ start: 0, end: at }]
  for (;;) {
    const start = at
    const introducer = source.byte(at++)
    if (introducer === 0x3b) {
      if (at !== source.bytes) throw broken('something follows its end')
      return [...joinRanges([...kept, { start, end: at }])]
    }
    if (introducer === 0x2c) {
      // Place and size, palette, the size of its first code, data.
      at = skipBlocks(source, at + 9 + paletteBytes(source.byte(at + 8)) + 1)
      kept.push({ start, end: at })
    } else if (introducer === 0x21) {
      at = skipBlocks(source, at + 1)
      if (isKept(source, start)) kept.push({ start, end: at })
    } else throw broken('it is broken')
  }
}

function isKept(source: SourceFile, start: number): boolean {
  const label = source.byte(start + 1)
  if (label !== application) return label === graphicControl
  return source.byte(start + 2) === 11 && loops.has(source.take(start + 3, 11).toString('latin1'))
}

/** From the first block on, to behind the empty one that ends them. */
function skipBlocks(source: SourceFile, from: number): number {
  let at = from
  for (let length = source.byte(at++); length > 0; length = source.byte(at++)) at += length
  return at
}

function paletteBytes(flags: number): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 0x07) + 1) : 0
}

function broken(why: string): PictureError {
  return new PictureError('refused', `The GIF is not taken: ${why}.`)
}
