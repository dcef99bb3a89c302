import { isPassing, sqlStateOf } from '@atrium/traffic/database-errors'
import { OutcomeUnknown, Overloaded } from '@atrium/traffic/overloaded'
import { ApiError } from '#errors/api-error.ts'

/** SQLSTATE codes that the code asks about by name. */
export const sqlState = {
  foreignKeyViolation: '23503',
} as const

/** Whether a value in the query was refused, rather than the query as a whole: classes 22 (data) and 23 (constraints). */
export function isDataError(error: unknown): boolean {
  return /^2[23]/.test(sqlStateOf(error) ?? '')
}

/** What a failed query means to the caller; undefined: a fault of ours, which stays a 500. */
export function apiErrorOfSql(error: unknown): ApiError | undefined {
  // The collection was deleted between the look at it and the write.
  if (sqlStateOf(error) === sqlState.foreignKeyViolation && constraintOf(error).endsWith('_collection_exists'))
    return new ApiError('not_found')
  // A version of an agent that nobody used any more was removed in this very moment: the next launch stores it again.
  if (sqlStateOf(error) === sqlState.foreignKeyViolation && constraintOf(error) === 'sessions_version_exists')
    return unavailable(error)
  if (error instanceof OutcomeUnknown) return outcomeUnknown(error)
  return error instanceof Overloaded || isPassing(error) ? unavailable(error) : undefined
}

function constraintOf(error: unknown): string {
  return String((error as { constraint?: unknown }).constraint)
}

/** Whether it happened can be said neither way: a repeat under the same Idempotency-Key finds out, or makes it happen once. */
function outcomeUnknown({ retryAfterSeconds, cause }: OutcomeUnknown): ApiError {
  return new ApiError('unavailable', {
    message:
      'The database did not answer in time: whether this request took effect is not known. Repeat it with the same Idempotency-Key, or look first.',
    reason: 'outcome_unknown',
    retryAfterSeconds,
    cause,
  })
}

function unavailable(cause: unknown): ApiError {
  return new ApiError('unavailable', { retryAfterSeconds: 1, cause })
}
