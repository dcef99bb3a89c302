import { ApiError } from '../http/api-error.ts'

/** SQLSTATE codes that the code asks about by name. */
export const sqlState = {
  foreignKeyViolation: '23503',
  lockNotAvailable: '55P03',
} as const

export function sqlStateOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code
  // No class of SQLSTATE begins with E, and the system's codes do, among them EPIPE, which is as long.
  return typeof code === 'string' && /^(?!E)[0-9A-Z]{5}$/.test(code) ? code : undefined
}

// EAGAIN: more connections wait at a socket than it keeps waiting.
const networkCodes = new Set(
  'ECONNREFUSED ECONNRESET ECONNABORTED EPIPE ENOENT ETIMEDOUT ENOTFOUND EHOSTUNREACH ENETUNREACH EAGAIN EAI_AGAIN'.split(' '),
)

/** Whether a value in the query was refused, rather than the query as a whole: classes 22 (data) and 23 (constraints). */
export function isDataError(error: unknown): boolean {
  return /^2[23]/.test(sqlStateOf(error) ?? '')
}

/** What a failed query means to the caller; undefined: a fault of ours, which stays a 500. */
export function apiErrorOfSql(error: unknown): ApiError | undefined {
  const state = sqlStateOf(error)
  // The collection was deleted between the look at it and the write.
  if (state === sqlState.foreignKeyViolation && constraintOf(error).endsWith('_collection_exists'))
    return new ApiError('not_found')
  if (state) {
    // 08: connection; 53: out of resources; 57P: shutting down; 58: the system below it; 40: lost a race that a retry wins; 25006: standby; 57014, 55P03: took too long.
    const passing =
      /^(08|53|57P|58|40)/.test(state) || state === '25006' || state === '57014' || state === sqlState.lockNotAvailable
    return passing ? unavailable(error) : undefined
  }
  return isConnectionLost(error) ? unavailable(error) : undefined
}

/** Whether the connection broke, could not be made, or went silent: nothing more can be asked on it. */
export function isConnectionLost(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code
  const message = error instanceof Error ? error.message : ''
  return (
    (typeof code === 'string' && networkCodes.has(code)) ||
    ['Connection terminated', 'timeout exceeded when trying to connect', 'connection error', 'Query read timeout'].some((part) =>
      message.includes(part),
    )
  )
}

function constraintOf(error: unknown): string {
  return String((error as { constraint?: unknown }).constraint)
}

function unavailable(cause: unknown): ApiError {
  return new ApiError('unavailable', { retryAfterSeconds: 1, cause })
}
