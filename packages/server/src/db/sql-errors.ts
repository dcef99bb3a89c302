import { ApiError } from '../http/api-error.ts'

/** SQLSTATE codes that the code asks about by name. */
export const sqlState = {
  foreignKeyViolation: '23503',
  lockNotAvailable: '55P03',
} as const

const networkCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ENOENT',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
])

export function sqlStateOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code
  // EPIPE looks like one.
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !networkCodes.has(code) ? code : undefined
}

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
  // A version of an agent that nobody used any more was removed in this very moment: the next launch stores it again.
  if (state === sqlState.foreignKeyViolation && constraintOf(error) === 'sessions_version_exists') return unavailable(error)
  if (state) {
    // 08: connection; 53: out of resources; 57P: shutting down; 40: lost a race that a retry wins; 25006: standby; 57014, 55P03: took too long.
    const passing = /^(08|53|57P|40)/.test(state) || state === '25006' || state === '57014' || state === sqlState.lockNotAvailable
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
