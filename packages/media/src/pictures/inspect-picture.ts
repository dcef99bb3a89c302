import { openImage } from './open-image.ts'
import { PictureError } from './picture-error.ts'
import type { PictureFacts } from './picture-job.ts'

/** Reads the header. */
export async function inspectPicture(path: string): Promise<PictureFacts> {
  const found = await openImage(path).metadata()
  const { format, compression, width, height, pages = 1, depth } = found
  const known = format === 'heif' && compression === 'av1' ? 'avif' : format
  if (known !== 'jpeg' && known !== 'png' && known !== 'webp' && known !== 'gif' && known !== 'avif')
    throw new PictureError('refused', 'The file is not a picture of an accepted type.')
  return {
    format: known,
    width,
    height,
    frames: pages,
    channels: found.channels,
    bytesPerChannel: depth === 'uchar' ? 1 : 2,
    progressive: found.isProgressive,
    subsampling: found.chromaSubsampling ?? '',
    orientation: found.orientation ?? 1,
  }
}
