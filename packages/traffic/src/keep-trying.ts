import { setTimeout as delay } from 'node:timers/promises'
import { Backoff } from './backoff.ts'

interface KeepTryingOptions {
  /** Ends the waiting. The reason of the signal is thrown then. */
  signal: AbortSignal
  /** Whether the same call may succeed later. */
  isPassing: (error: unknown) => boolean
  pauseMs?: number
}

/** Calls until it succeeds, until it fails with a permanent error, or until the signal aborts. */
export async function keepTrying<T>(
  call: () => Promise<T>,
  { signal, isPassing, pauseMs = 1_000 }: KeepTryingOptions,
): Promise<T> {
  // Hundreds of callers lose the same service at the same moment, so their retries must be spread.
  const backoff = new Backoff({ firstMs: pauseMs, maxMs: 4 * pauseMs, healthyMs: 0 })
  for (;;) {
    try {
      return await call()
    } catch (error) {
      signal.throwIfAborted()
      if (!isPassing(error)) throw error
      await delay(backoff.failed(), undefined, { signal })
    }
  }
}
