import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { keepTrying } from '@atrium/traffic/keep-trying'
import { PictureError } from '@atrium/media/pictures/picture-error'
import type { PictureFacts } from '@atrium/media/pictures/picture-job'
import type { Pictures } from '@atrium/media/pictures/pictures'
import { PaintError } from './paint-error.ts'
import type { Painted } from './painter.ts'
import { takePictureTurn } from './picture-work.ts'

const MAX_BYTES = 16 * 1024 * 1024
const MAX_PIXELS = 4096 * 4096
const MIN_SIDE = 64
/** A killed picture process looks like one that takes too long. Only a picture that takes too long three times is refused. */
const MAX_SLOW = 3

type Opened = Pick<Painted, 'bytes' | 'mime' | 'width' | 'height'>

interface Terms {
  tenantId: string
  /** Ends the attempts; its reason is thrown then. */
  signal: AbortSignal
  /** Told why the picture could not be opened yet. */
  onFault: (error: unknown) => void
}

/**
 * Extracts the picture from a provider's answer, and nothing else. A tenant chooses the server, so the answer is
 * untrusted: it is opened in a separate process, like an upload. The type that the provider declares is ignored.
 *
 * The tenant has paid the provider for it. So an error that the picture did not cause, such as a full disk, is waited
 * out.
 */
export async function readPicture(pictures: Pictures, sent: Uint8Array, { tenantId, signal, onFault }: Terms): Promise<Opened> {
  if (sent.byteLength > MAX_BYTES) throw new PaintError('bad_result', 'The provider sent a picture that is too large.')
  let slow = 0
  const isPassing = (error: unknown): boolean => {
    if (error instanceof PaintError) return false
    if (error instanceof PictureError && error.code === 'refused') return false
    if (error instanceof PictureError && error.code === 'too_slow' && ++slow === MAX_SLOW) return false
    onFault(error)
    return true
  }
  // Without the signal: a worker that stops keeps what it has received, as another one would pay for it again.
  const open = () => takePictureTurn(tenantId, undefined, () => openPicture(pictures, sent, tenantId))
  try {
    return await keepTrying(open, { signal, isPassing })
  } catch (error) {
    if (!(error instanceof PictureError)) throw error
    throw new PaintError('bad_result', 'The provider sent something that is not a picture, or is too large.')
  }
}

function openPicture(pictures: Pictures, sent: Uint8Array, tenantId: string): Promise<Opened> {
  return pictures.withFolder(async (folder) => {
    const source = join(folder, 'source')
    await writeFile(source, sent, { flag: 'wx', mode: 0o600 })
    const facts = await pictures.inspect(source, tenantId)
    assertWanted(facts)
    const clean = join(folder, 'clean')
    const { width, height } = await pictures.clean(source, clean, facts, tenantId)
    return { bytes: await readFile(clean), mime: `image/${facts.format}`, width, height }
  }, tenantId)
}

function assertWanted({ format, width, height, frames }: PictureFacts): void {
  if (format === 'gif' || frames > 1)
    throw new PaintError('bad_result', 'The provider sent something that is not a still picture.')
  if (width * height > MAX_PIXELS) throw new PaintError('bad_result', 'The provider sent a picture that is too large.')
  if (Math.min(width, height) < MIN_SIDE) throw new PaintError('bad_result', 'The provider sent a picture that is too small.')
}
