import type { Sharp } from 'sharp'
import { uncachedSharp } from '../uncached-sharp.ts'
import { ProduceError } from './produce-error.ts'

/** Enough for any camera; a decoder then needs some 200 MB at worst. */
const MAX_PIXELS = 40_000_000
const DECODE_SECONDS = 8
/** What sharp may find by content. SVG is a program, PDF is a document, and neither is a picture. */
const TYPES: ReadonlySet<string> = new Set(['png', 'jpeg', 'webp', 'heif', 'gif'])

/**
 * A picture, ready to be resized: its first frame only, upright, within limits, in sRGB. Not for a stranger's file,
 * which may be meant for a fault in a decoder: what comes here was made by a picture process (ports/pictures).
 */
export async function openPicture(bytes: Uint8Array): Promise<{ image: Sharp; width: number; height: number }> {
  // Sharp throws at once for an empty one, where it otherwise rejects.
  if (bytes.byteLength === 0) throw notAPicture()
  const image = uncachedSharp(bytes, { limitInputPixels: MAX_PIXELS, failOn: 'error', pages: 1, sequentialRead: true })
  const { format, autoOrient } = await guarded(image.metadata())
  if (!TYPES.has(format)) throw notAPicture()
  return { image: image.autoOrient().timeout({ seconds: DECODE_SECONDS }).toColourspace('srgb'), ...autoOrient }
}

/** Replaces the error of a decoder with one plain sentence. */
export async function guarded<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch {
    throw notAPicture()
  }
}

function notAPicture(): ProduceError {
  return new ProduceError('One of the pictures cannot be read, or is too large.')
}
