import { uncachedSharp } from '../uncached-sharp.ts'
import { PaintError } from './paint-error.ts'

const MAX_BYTES = 16 * 1024 * 1024
const MAX_PIXELS = 4096 * 4096
const MIN_SIDE = 64
const DECODE_SECONDS = 10

/** What sharp may find by content. A provider's word for the type counts for nothing, and SVG is a program, not a picture. */
const TYPES: ReadonlySet<string> = new Set(['png', 'jpeg', 'webp', 'heif'])

/** Decodes what a provider sent and writes it anew as PNG, so that nothing but pixels of it is kept. */
export async function readPicture(bytes: Uint8Array): Promise<Buffer> {
  if (bytes.byteLength > MAX_BYTES) throw new PaintError('bad_result', 'The provider sent a picture that is too large.')
  try {
    const image = uncachedSharp(bytes, { limitInputPixels: MAX_PIXELS, failOn: 'warning', pages: 1 })
    const { format, width, height } = await image.metadata()
    if (!TYPES.has(format)) throw new PaintError('bad_result', 'The provider sent something that is not a picture.')
    if (Math.min(width, height) < MIN_SIDE) throw new PaintError('bad_result', 'The provider sent a picture that is too small.')
    return await image
      .autoOrient()
      .timeout({ seconds: DECODE_SECONDS })
      .toColourspace('srgb')
      .png({ compressionLevel: 6 })
      .toBuffer()
  } catch (error) {
    if (error instanceof PaintError) throw error
    throw new PaintError('bad_result', 'The provider sent something that is not a picture.')
  }
}
