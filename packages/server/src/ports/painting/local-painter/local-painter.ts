import { Worker } from 'node:worker_threads'
import { assertPaintable, type Painter, type PaintRequest } from '../painter.ts'
import type { Picture, Wish } from './paint-picture.ts'

/** Goes up when the same wish would make other pixels. */
const VERSION = '1'
/** A picture takes a second or two; a thread that takes so long is lost. */
const LOST_AFTER_MS = 60_000
const MAX_HEAP_MIB = 384

/**
 * The painter in the house: no key, no network, no model. It paints in a thread, because a second of arithmetic would hold up everything
 * else in the process, and because only a thread can be stopped in the middle of it.
 */
export function createLocalPainter(): Painter {
  return {
    paint: async (request) => {
      assertPaintable(request)
      const { png, style, alt } = await paintInThread(request)
      return {
        bytes: Buffer.from(png.buffer, png.byteOffset, png.byteLength),
        mime: 'image/png',
        width: request.width,
        height: request.height,
        provider: 'local',
        model: `atrium-painter-${VERSION}`,
        seed: request.seed,
        style,
        alt,
      }
    },
  }
}

async function paintInThread({ prompt, width, height, seed, signal }: PaintRequest): Promise<Picture> {
  signal?.throwIfAborted()
  const wish: Wish = { prompt, width, height, seed }
  const thread = new Worker(new URL('paint-thread.ts', import.meta.url), {
    workerData: wish,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
  })
  const stop = AbortSignal.any([...(signal ? [signal] : []), AbortSignal.timeout(LOST_AFTER_MS)])
  try {
    return await new Promise<Picture>((resolve, reject) => {
      const give = (): void => reject(stop.reason as Error)
      stop.addEventListener('abort', give, { once: true })
      thread.once('message', resolve)
      thread.once('error', reject)
      thread.once('exit', () => reject(new Error('the painter stopped without a picture')))
    })
  } finally {
    await thread.terminate()
  }
}
