import { openImage } from './open-image.ts'
import type { CleanedPicture, PictureFacts } from './picture-job.ts'
import { repack } from './repack/repack.ts'

/** Above this size, better compression takes longer than it is worth. */
const largePixels = 16_000_000

/**
 * Writes only the picture: no EXIF (with the location), XMP, IPTC or comments, and no data that is hidden behind it.
 * JPEG and PNG are decoded and re-encoded, upright and in sRGB. WebP, GIF and AVIF keep their coded pixels:
 * re-encoding would lose the advantages of the format, and takes 40 bytes of memory per pixel for AVIF. Of these,
 * everything that is not part of the picture is left out, and the result is decoded to verify that it is intact.
 */
export async function cleanPicture(path: string, out: string, facts: PictureFacts): Promise<CleanedPicture> {
  if (facts.format === 'jpeg' || facts.format === 'png' || isTurnedStill(facts)) return writeAnew(path, out, facts)
  repack[facts.format](path, out, facts)
  await decodeAll(out)
  return { width: facts.width, height: facts.height }
}

/** Few programs apply the orientation of a WebP, and it is stored in the EXIF. */
function isTurnedStill({ format, orientation, frames }: PictureFacts): boolean {
  return format === 'webp' && orientation > 1 && frames === 1
}

async function writeAnew(path: string, out: string, facts: PictureFacts): Promise<CleanedPicture> {
  const large = facts.width * facts.height > largePixels
  const image = openImage(path).autoOrient().toColourspace('srgb')
  const chromaSubsampling = facts.subsampling.startsWith('4:4:4') ? '4:4:4' : '4:2:0'
  const encoded =
    facts.format === 'jpeg'
      ? // Optimised coding would hold all coefficients of a large one.
        image.jpeg({ quality: 90, chromaSubsampling, optimiseCoding: !large })
      : facts.format === 'webp'
        ? image.webp({ quality: 90, effort: 2 })
        : image.png({ compressionLevel: large ? 3 : 7 })
  const { width, height } = await encoded.toFile(out)
  return { width, height }
}

/**
 * Throws if the picture is truncated or damaged. It is shrunk while it is decoded, so that it is never in memory as
 * a whole.
 */
async function decodeAll(path: string): Promise<void> {
  await openImage(path, { animated: true }).resize({ width: 16, height: 16, fit: 'fill' }).raw().toBuffer()
}
