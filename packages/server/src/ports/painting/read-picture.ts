import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PictureError } from '@atrium/media/pictures/picture-error'
import type { PictureFacts } from '@atrium/media/pictures/picture-job'
import type { Pictures } from '@atrium/media/pictures/pictures'
import { PaintError } from './paint-error.ts'
import type { Painted } from './painter.ts'

const MAX_BYTES = 16 * 1024 * 1024
const MAX_PIXELS = 4096 * 4096
const MIN_SIDE = 64

/**
 * Extracts the picture from a provider's answer, and nothing else. A tenant chooses the server, so the answer is
 * untrusted: it is opened in a separate process, like an upload. The type that the provider declares is ignored.
 */
export async function readPicture(
  pictures: Pictures,
  sent: Uint8Array,
  tenantId: string,
): Promise<Pick<Painted, 'bytes' | 'mime' | 'width' | 'height'>> {
  if (sent.byteLength > MAX_BYTES) throw new PaintError('bad_result', 'The provider sent a picture that is too large.')
  try {
    return await pictures.withFolder(async (folder) => {
      const source = join(folder, 'source')
      await writeFile(source, sent, { flag: 'wx', mode: 0o600 })
      const facts = await pictures.inspect(source, tenantId)
      assertWanted(facts)
      const clean = join(folder, 'clean')
      const { width, height } = await pictures.clean(source, clean, facts, tenantId)
      return { bytes: await readFile(clean), mime: `image/${facts.format}`, width, height }
    }, tenantId)
  } catch (error) {
    if (!(error instanceof PictureError) || error.code === 'busy') throw error
    throw new PaintError('bad_result', 'The provider sent something that is not a picture, or is too large.')
  }
}

function assertWanted({ format, width, height, frames }: PictureFacts): void {
  if (format === 'gif' || frames > 1)
    throw new PaintError('bad_result', 'The provider sent something that is not a still picture.')
  if (width * height > MAX_PIXELS) throw new PaintError('bad_result', 'The provider sent a picture that is too large.')
  if (Math.min(width, height) < MIN_SIDE) throw new PaintError('bad_result', 'The provider sent a picture that is too small.')
}
