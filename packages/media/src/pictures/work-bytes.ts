import type { PictureFacts } from './picture-job.ts'

/** Memory in bytes per pixel of an AVIF, while it is decoded and while it is encoded (measured). */
const avifDecodeBytes = 18
const avifEncodeBytes = 37

/**
 * The memory for cleaning a picture, in addition to that of the process, by format: the part that is held as a
 * whole. Measured at 50 megapixels.
 */
export function cleanWorkBytes({ format, width, height, channels, bytesPerChannel, ...facts }: PictureFacts): number {
  const pixels = width * height
  const turned = facts.orientation > 1 ? pixels * channels * bytesPerChannel : 0
  switch (format) {
    case 'jpeg':
      // Its coefficients take two bytes each.
      return turned + (facts.progressive ? pixels * coefficients(channels, facts.subsampling) * 2 : 0)
    case 'png':
      return turned + (facts.progressive ? pixels * channels * bytesPerChannel : 0)
    case 'webp':
      // A rotated picture is re-encoded.
      return pixels * (turned ? 12 : facts.frames > 1 ? 8 : 4)
    case 'gif':
      return pixels * 8
    case 'avif':
      return pixels * avifDecodeBytes
  }
}

/** The same for a smaller picture of one that was cleaned. */
export function shrinkWorkBytes(
  source: { mime: string; width: number; height: number },
  outPixels: number,
  format: string,
): number {
  const perPixel = { 'image/avif': avifDecodeBytes, 'image/webp': 4, 'image/gif': 8 }[source.mime] ?? 0
  return Math.max(source.width * source.height * perPixel, outPixels * (format === 'avif' ? avifEncodeBytes : 8))
}

function coefficients(channels: number, subsampling: string): number {
  if (subsampling.startsWith('4:2:0')) return 1.5
  return subsampling.startsWith('4:2:2') ? 2 : channels
}

/** A megapixel takes some tenths of a second, and several times that for AVIF. */
const quickPixels = 1_000_000
const quickBytes = 16 * 1024 * 1024

/** Whether cleaning is fast, judged by the header. */
export function isQuickToClean(facts: PictureFacts): boolean {
  const { format, width, height, frames } = facts
  const pixels = width * height * frames * (format === 'avif' ? 4 : 1)
  return pixels <= quickPixels && cleanWorkBytes(facts) <= quickBytes
}

/** The same for a smaller picture. */
export function isQuickToShrink({ sourcePixels, format }: { sourcePixels: number; format: string }, workBytes: number): boolean {
  return format !== 'avif' && sourcePixels <= quickPixels && workBytes <= quickBytes
}
