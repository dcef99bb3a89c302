import { AtriumError } from './atrium-error.ts'

const baseMs = 250
const maxBackoffMs = 8_000
/** A server that asks for more patience than this is left to the caller. */
const maxRetryAfterSeconds = 60

export interface RetryOptions {
  /** Further tries after the first, at the most. */
  retries: number
  /** Whether the call may happen twice without harm. What was refused for coming too often did not happen: that is always repeated. */
  repeatable: boolean
  signal: AbortSignal | undefined
  wait: Wait
}

/** Resolves after so many milliseconds, or rejects as soon as the signal aborts. */
export type Wait = (ms: number, signal: AbortSignal | undefined) => Promise<void>

/** Tries until it goes well, fails for good, or the tries are used up. */
export async function withRetries<T>(attempt: () => Promise<T>, { retries, repeatable, signal, wait }: RetryOptions): Promise<T> {
  for (let tried = 0; ; tried++) {
    try {
      return await attempt()
    } catch (error) {
      if (tried >= retries || !isTransient(error, repeatable)) throw error
      await wait(delayMs(tried, error.retryAfterSeconds), signal)
    }
  }
}

function isTransient(error: unknown, repeatable: boolean): error is AtriumError {
  if (!(error instanceof AtriumError) || (error.retryAfterSeconds ?? 0) > maxRetryAfterSeconds) return false
  return error.status === 429 || (repeatable && isPassing(error))
}

/** Whether the same call may well succeed a little later: no answer came, or one from whoever stood in for the server. */
export function isPassing({ code, status }: AtriumError): boolean {
  return code === 'network_error' || code === 'idempotency_in_progress' || [408, 429, 502, 503, 504].includes(status)
}

/** Grows with each try; random, so that those who failed together do not come back together. Never before Retry-After. */
export function delayMs(tried: number, retryAfterSeconds: number | undefined): number {
  const jitterMs = Math.random() * Math.min(maxBackoffMs, baseMs * 2 ** tried)
  return (retryAfterSeconds ?? 0) * 1000 + jitterMs
}

export const wait: Wait = (ms, signal) =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', abort, { once: true })
  })
