import { PictureError } from '../picture-error.ts'
import { joinRanges, type Piece, type SourceFile } from './source-file.ts'

/** The application extensions with the loop count of an animation. */
const loops = new Set(['NETSCAPE2.0', 'ANIMEXTS1.0'])
const graphicControl = 0xf9
const application = 0xff

/**
 * Returns header, palettes, frames with their durations, and the loop count. Comments, plain text and data of other
 * applications are left out.
 */
export function gifPieces(source: SourceFile, size: { width: number; height: number }): Piece[] {
  const header = source.take(0, 13)
  if (!/^GIF8[79]a$/.test(header.toString('latin1', 0, 6))) throw broken('it is no GIF')
  // Decoders use the frames if the screen size is absurd, but a browser may allocate the whole screen.
  if (header.readUInt16LE(6) > size.width || header.readUInt16LE(8) > size.height) throw broken('its frames do not fill it')
  let at = 13 + paletteBytes(header.readUInt8(10))
  const kept = [{ start: 0, end: at }]
  for (;;) {
    const start = at
    const introducer = source.byte(at++)
    if (introducer === 0x3b) {
      if (at !== source.bytes) throw broken('it has data after its end')
      return [...joinRanges([...kept, { start, end: at }])]
    }
    if (introducer === 0x2c) {
      // Position and size, palette, the minimum code size, data.
      at = skipBlocks(source, at + 9 + paletteBytes(source.byte(at + 8)) + 1)
      kept.push({ start, end: at })
    } else if (introducer === 0x21) {
      at = skipBlocks(source, at + 1)
      if (isKept(source, start)) kept.push({ start, end: at })
    } else throw broken('it is damaged')
  }
}

function isKept(source: SourceFile, start: number): boolean {
  const label = source.byte(start + 1)
  if (label !== application) return label === graphicControl
  return source.byte(start + 2) === 11 && loops.has(source.take(start + 3, 11).toString('latin1'))
}

/** The sub-blocks, up to and including the empty one that ends them. */
function skipBlocks(source: SourceFile, from: number): number {
  let at = from
  for (let length = source.byte(at++); length > 0; length = source.byte(at++)) at += length
  return at
}

function paletteBytes(flags: number): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 0x07) + 1) : 0
}

function broken(why: string): PictureError {
  return new PictureError('refused', `The GIF is not accepted: ${why}.`)
}
