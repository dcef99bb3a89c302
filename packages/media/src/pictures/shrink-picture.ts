import sharp from 'sharp'
import { openImage } from './open-image.ts'
import { maxHeightRatio, type ShrunkFormat } from './picture-job.ts'

/** Above this size an AVIF is encoded in the fastest mode. */
const smallPixels = 1_000_000

/**
 * Writes the picture at the requested width, or unchanged if it is smaller. Only the first frame of an animation is
 * used.
 */
export async function shrinkPicture(path: string, out: string, width: number, format: ShrunkFormat): Promise<void> {
  // In two steps, so that the memory for decoding the source and for encoding the result is not needed at the same
  // time.
  const { data, info } = await openImage(path)
    .resize({ width, height: maxHeightRatio * width, fit: 'inside', withoutEnlargement: true })
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true })
  const raw = { width: info.width, height: info.height, channels: info.channels }
  const effort = format === 'webp' ? 4 : info.width * info.height > smallPixels ? 0 : 2
  await sharp(data, { raw })
    .toFormat(format, { quality: format === 'webp' ? 80 : 55, effort })
    .toFile(out)
}
