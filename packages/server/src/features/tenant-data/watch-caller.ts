import { ApiError } from '#errors/api-error.ts'

/** Somebody who may not read on is out within a second. */
const checkIntervalMs = 500
/** How long the caller may read on while the database does not answer: as long as event streams stay open. */
const databaseTimeoutMs = 10_000

/**
 * Checks at intervals whether the caller of a long answer may still read it, and calls `end`, once, when that is not so.
 * A timer does it, because the code that reads and sends may wait for a slow reader. Returns what stops the checks.
 */
export function watchCaller(
  assertStillAllowed: () => Promise<void>,
  end: (reason: ApiError) => void,
  { intervalMs = checkIntervalMs, timeoutMs = databaseTimeoutMs } = {},
): () => void {
  let allowedAtMs = performance.now()
  let isChecking = false
  let isStopped = false
  const stop = () => {
    isStopped = true
    clearInterval(timer)
  }
  const check = async () => {
    const startedAtMs = performance.now()
    const wasChecking = isChecking
    isChecking = true
    // A check that hangs is not joined by others, and counts as one that fails.
    const failure = wasChecking ? new ApiError('unavailable') : await assertStillAllowed().then(() => undefined, toApiError)
    isChecking = wasChecking
    if (isStopped) return
    if (!failure) allowedAtMs = startedAtMs
    else if (failure.code !== 'unavailable' || performance.now() - allowedAtMs >= timeoutMs) {
      stop()
      end(failure)
    }
  }
  const timer = setInterval(() => void check(), intervalMs)
  return stop
}

/** The refusal of the caller. Any other error says nothing about the caller. */
function toApiError(error: unknown): ApiError {
  return error instanceof ApiError && error.status < 500 ? error : new ApiError('unavailable', { cause: error })
}
