import { PictureError } from './picture-error.ts'
import type { PictureFacts } from './picture-job.ts'
import { cleanWorkBytes } from './work-bytes.ts'

/** The limits of a picture. Cameras with 50 megapixels produce 8192 × 6144. */
export const pictureLimits = {
  side: 20_000,
  pixels: 51_200_000,
  frames: 300,
  /** The pixels of all frames together. */
  framePixels: 100_000_000,
  workBytes: 256 * 1024 * 1024,
} as const

/** Rejects a picture that would take too much time or memory, by its header alone. */
export function assertAcceptable(facts: PictureFacts): void {
  const { width, height, frames } = facts
  const pixels = width * height
  if (Math.max(width, height) > pictureLimits.side) throw refused(`a side is longer than ${pictureLimits.side} pixels`)
  if (pixels > pictureLimits.pixels) throw refused(`it has more than ${pictureLimits.pixels} pixels`)
  if (frames > pictureLimits.frames) throw refused(`it has more than ${pictureLimits.frames} frames`)
  if (pixels * frames > pictureLimits.framePixels)
    throw refused(`its frames have more than ${pictureLimits.framePixels} pixels together`)
  if (cleanWorkBytes(facts) > pictureLimits.workBytes)
    throw refused('it has too many pixels for its encoding; an upright baseline JPEG may have more')
}

function refused(why: string): PictureError {
  return new PictureError('refused', `The picture is not accepted: ${why}.`)
}
