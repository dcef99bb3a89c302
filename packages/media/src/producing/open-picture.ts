import type { Sharp } from 'sharp'
import { uncachedSharp } from '../uncached-sharp.ts'
import { ProduceError } from './produce-error.ts'

/** Enough for any camera; a decoder then needs at most about 200 MB. */
const MAX_PIXELS = 40_000_000
const DECODE_SECONDS = 8
/** The formats that sharp may detect. SVG can contain scripts and PDF is a document, so neither is a picture. */
const TYPES: ReadonlySet<string> = new Set(['png', 'jpeg', 'webp', 'heif', 'gif'])

/**
 * Opens a picture to be resized: only its first frame, upright, within limits, in sRGB. It must not be used for
 * untrusted files, which may exploit a defect of a decoder: its input comes from a picture process
 * (packages/media/src/pictures).
 */
export async function openPicture(bytes: Uint8Array): Promise<{ image: Sharp; width: number; height: number }> {
  // Sharp throws synchronously for an empty buffer; for others it rejects.
  if (bytes.byteLength === 0) throw notAPicture()
  const image = uncachedSharp(bytes, { limitInputPixels: MAX_PIXELS, failOn: 'error', pages: 1, sequentialRead: true })
  const { format, autoOrient } = await guarded(image.metadata())
  if (!TYPES.has(format)) throw notAPicture()
  return { image: image.autoOrient().timeout({ seconds: DECODE_SECONDS }).toColourspace('srgb'), ...autoOrient }
}

/** Replaces the error of a decoder with a plain message. */
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
