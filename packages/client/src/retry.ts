import { isTransient, type Wait, withRetries as retryWhile } from '@atrium/room-client/retry'
import { AtriumError } from './atrium-error.ts'

export { wait, type Wait } from '@atrium/room-client/retry'

export interface RetryOptions {
  /** The largest number of retries after the first attempt. */
  retries: number
  /** Whether the call may safely run twice. A 429 is always retried, because the call had no effect. */
  repeatable: boolean
  signal: AbortSignal | undefined
  wait: Wait
}

/** Calls `attempt` until it succeeds, fails permanently, or no retries are left. */
export function withRetries<T>(attempt: () => Promise<T>, { repeatable, ...options }: RetryOptions): Promise<T> {
  const mayRetry = (error: unknown): error is AtriumError =>
    error instanceof AtriumError &&
    (error.status === 429 || (repeatable && (error.code === 'idempotency_in_progress' || isTransient(error))))
  return retryWhile(attempt, { ...options, mayRetry })
}
