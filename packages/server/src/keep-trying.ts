import { setTimeout as delay } from 'node:timers/promises'

interface Patience {
  /** Ends the waiting: what is thrown then is its reason. */
  signal: AbortSignal
  /** Whether the same call may succeed in a while. */
  isPassing: (error: unknown) => boolean
  pauseMs?: number
}

/** Calls until it succeeds, until it fails with an error that does not pass, or until the signal aborts. */
export async function keepTrying<T>(call: () => Promise<T>, { signal, isPassing, pauseMs = 1_000 }: Patience): Promise<T> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      signal.throwIfAborted()
      if (!isPassing(error)) throw error
      // Jitter: all that waited for the same outage must not come back at the same moment.
      await delay(pauseMs * (0.5 + Math.random()), undefined, { signal })
    }
  }
}
