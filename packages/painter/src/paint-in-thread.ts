import { Worker } from 'node:worker_threads'
import type { PaintRequest, Picture } from './paint-picture.ts'

/** A picture takes one or two seconds. A thread that takes this long has failed. */
const timeoutMs = 60_000
const maxHeapMib = 384

/**
 * Paints in a separate thread. A second of arithmetic would block everything else in the process, and only a thread
 * can be stopped in the middle of it. Rejects with the signal's reason when the signal aborts.
 */
export async function paintInThread(request: PaintRequest, signal?: AbortSignal): Promise<Picture> {
  signal?.throwIfAborted()
  const thread = new Worker(new URL('paint-thread.ts', import.meta.url), {
    workerData: request,
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMib },
  })
  const stop = AbortSignal.any([...(signal ? [signal] : []), AbortSignal.timeout(timeoutMs)])
  try {
    return await new Promise<Picture>((resolve, reject) => {
      const fail = (): void => reject(stop.reason as Error)
      stop.addEventListener('abort', fail, { once: true })
      thread.once('message', resolve)
      thread.once('error', reject)
      thread.once('exit', () => reject(new Error('the painter stopped without a picture')))
    })
  } finally {
    await thread.terminate()
  }
}
