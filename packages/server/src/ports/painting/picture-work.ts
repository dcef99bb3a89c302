import { FairSemaphore } from '@atrium/media/pictures/fair-semaphore'

/**
 * What takes processor time and memory: painting, opening pictures, making cards and clips. Two at a time in a process,
 * because each takes up to some hundred MiB. No turn is held while a job waits for a server that a tenant chose, so
 * that a slow one delays nobody else. The wait ends later than any job. A job that has
 * ended meanwhile gives its turn back at once.
 */
const turns = new FairSemaphore({
  permits: 2,
  permitsPerTenant: 2,
  maxWaiting: Infinity,
  maxWaitingPerTenant: Infinity,
  timeoutMs: 10 * 60_000,
  busy: () => new Error('no turn to work on a picture came for longer than any job takes'),
})

/** Works on a picture of the tenant when its turn comes, unless the signal has aborted by then. */
export function takePictureTurn<T>(tenantId: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  return turns.run(tenantId, 1, async () => {
    signal?.throwIfAborted()
    return work()
  })
}
