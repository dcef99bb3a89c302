import { delayMs, isTransient, wait } from '@atrium/room-client/retry'

/** During a stream of many events the work runs at most this often. */
const gapMs = 500

/**
 * Runs `work` after a call, and once more if further calls arrived meanwhile. A failure is reported to `onError`. If it may
 * pass, the work is tried again, with growing delays; otherwise the next call runs it again.
 */
export function coalesced(work: () => Promise<void>, signal: AbortSignal, onError: (error: unknown) => void): () => void {
  let isWanted = false
  let isRunning = false
  let failures = 0
  /** Returns how long to wait until the next run. */
  const attempt = async (): Promise<number> => {
    isWanted = false
    try {
      await work()
      failures = 0
      return gapMs
    } catch (error) {
      if (!signal.aborted) onError(error)
      if (!isTransient(error)) return gapMs
      isWanted = true
      return Math.max(gapMs, delayMs(failures++, error.retryAfterSeconds))
    }
  }
  const run = async () => {
    isRunning = true
    // Who aborts expects no error.
    while (isWanted && !signal.aborted) await wait(await attempt(), signal).catch(() => undefined)
    isRunning = false
  }
  return () => {
    isWanted = true
    if (!isRunning) void run()
  }
}
