import { isTransient, type Wait, withRetries as retryWhile } from '@atrium/room-client/retry'
import { AtriumError } from './atrium-error.ts'

export { wait, type Wait } from '@atrium/room-client/retry'

export interface RetryOptions {
  /** Further tries after the first, at the most. */
  retries: number
  /** Whether the call may happen twice without harm. What was refused for coming too often did not happen: that is always repeated. */
  repeatable: boolean
  signal: AbortSignal | undefined
  wait: Wait
}

/** Tries until it goes well, fails for good, or the tries are used up. */
export function withRetries<T>(attempt: () => Promise<T>, { repeatable, ...options }: RetryOptions): Promise<T> {
  const mayRetry = (error: unknown): error is AtriumError =>
    error instanceof AtriumError &&
    (error.status === 429 || (repeatable && (error.code === 'idempotency_in_progress' || isTransient(error))))
  return retryWhile(attempt, { ...options, mayRetry })
}
