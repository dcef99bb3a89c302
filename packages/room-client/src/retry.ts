const baseMs = 250
const maxBackoffMs = 8_000
/** A longer Retry-After than this is not awaited; the error is thrown to the caller. */
const maxRetryAfterSeconds = 60
/** The limit for any delay that a server requests. */
export const longestWaitMs = 60 * 60 * 1_000

/** The longest delay of a timer. A longer one fires at once. */
export const longestTimerMs = 2 ** 31 - 1

const transient = new Set<unknown>([0, 408, 429, 502, 503, 504])

/** The fields of an error that decide on a retry. `status` is 0 without a response. */
export interface Failure {
  readonly status: number
  readonly retryAfterSeconds: number | undefined
}

export interface RetryOptions {
  /** The largest number of retries after the first attempt. */
  retries: number
  mayRetry: (error: unknown) => error is Failure
  signal: AbortSignal | undefined
  wait: Wait
}

/** Resolves after so many milliseconds, an hour at most, or rejects as soon as the signal aborts. */
export type Wait = (ms: number, signal: AbortSignal | undefined) => Promise<void>

/** Calls `attempt` until it succeeds, fails permanently, or no retries are left. */
export async function withRetries<T>(attempt: () => Promise<T>, { retries, mayRetry, signal, wait }: RetryOptions): Promise<T> {
  for (let tried = 0; ; tried++) {
    try {
      return await attempt()
    } catch (error) {
      if (tried >= retries || !mayRetry(error) || (error.retryAfterSeconds ?? 0) > maxRetryAfterSeconds) throw error
      await wait(delayMs(tried, error.retryAfterSeconds), signal)
    }
  }
}

/**
 * Whether the same call may succeed a little later: there was no response, or one from a proxy. Also used for the call
 * that renews the token of an identity, whose errors have another class.
 */
export function isTransient(failure: unknown): failure is Failure {
  if (!(failure instanceof Error)) return false
  // Errors of the Space endpoint have their code in `error`.
  const { status, code, error = code } = failure as { status?: unknown; code?: unknown; error?: unknown }
  // A page does not learn the status of a redirect: it is 0, too.
  return transient.has(status) && (status !== 0 || error !== 'unexpected_answer')
}

/**
 * Whether a call that failed in this way may have taken effect, or may if it is repeated: the API has not said that it
 * failed for good.
 */
export function isUncertain({ status, code }: { readonly status: number; readonly code: string }): boolean {
  return status >= 500 || transient.has(status) || code === 'idempotency_in_progress'
}

/**
 * The delay before a retry. It grows with each attempt and is random, to spread clients that failed together, and
 * never below Retry-After.
 */
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
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', abort)
        resolve()
      },
      Math.min(ms, longestWaitMs),
    )
    signal?.addEventListener('abort', abort, { once: true })
  })

/** Retry-After in its two forms (RFC 9110): seconds, or a date. */
export function retryAfterSecondsOf(headers: Headers): number | undefined {
  const value = headers.get('retry-after')?.trim()
  if (!value) return undefined
  // Some proxies send fractions. Date.parse would read one as a month and a day.
  if (/^\d+(?:\.\d+)?$/.test(value)) return Math.ceil(Number(value))
  const atMs = Date.parse(value)
  return Number.isNaN(atMs) ? undefined : Math.max(0, Math.ceil((atMs - Date.now()) / 1000))
}
