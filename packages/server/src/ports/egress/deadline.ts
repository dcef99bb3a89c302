import { EgressError } from './egress-error.ts'

export interface Deadline {
  signal: AbortSignal
  /** Rejects with the signal's reason once that is aborted; otherwise as the promise does. */
  race<T>(promise: Promise<T>): Promise<T>
  /** Ends the exchange before its time. */
  fail(error: Error): void
  /** Unrefs the timer, so that the process can end. */
  unref(): void
  clear(): void
}

/**
 * The time limit of a whole exchange: lookup, queueing, connecting, headers and body. The caller's signal ends it too.
 */
export function startDeadline(timeoutMs: number, caller?: AbortSignal | null): Deadline {
  const controller = new AbortController()
  const { signal } = controller
  const abortAsCaller = () => controller.abort(caller?.reason)
  const timer = setTimeout(() => {
    controller.abort(new EgressError('timeout', `There was no complete answer within ${timeoutMs / 1_000} s.`))
  }, timeoutMs)
  if (caller?.aborted) abortAsCaller()
  caller?.addEventListener('abort', abortAsCaller, { once: true })
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    if (signal.aborted) reject(signal.reason)
  })
  // An abort after the race must not be an unhandled rejection.
  aborted.catch(() => undefined)
  return {
    signal,
    race: (promise) => Promise.race([promise, aborted]),
    fail: (error) => controller.abort(error),
    unref: () => timer.unref(),
    clear: () => {
      clearTimeout(timer)
      caller?.removeEventListener('abort', abortAsCaller)
    },
  }
}
