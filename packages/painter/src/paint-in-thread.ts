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
  const { promise, resolve, reject } = Promise.withResolvers<Picture>()
  const abort = () => reject(signal?.reason as Error)
  const timer = setTimeout(() => reject(new Error(`the painter took longer than ${timeoutMs / 1000} s`)), timeoutMs)
  signal?.addEventListener('abort', abort, { once: true })
  thread.once('message', resolve)
  thread.once('error', reject)
  thread.once('exit', () => reject(new Error('the painter stopped without a picture')))
  try {
    return await promise
  } finally {
    // The timer and the listener reference the promise, which keeps the picture in memory.
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
    await thread.terminate()
  }
}
