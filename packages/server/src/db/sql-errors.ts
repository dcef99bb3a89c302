import { isPassing, sqlStateOf } from '@atrium/traffic/database-errors'
import { OutcomeUnknown, Overloaded } from '@atrium/traffic/overloaded'
import { ApiError } from '#errors/api-error.ts'
import { fieldOf } from '#errors/caught.ts'

/** The SQLSTATE codes that this code handles, by name. */
const sqlState = {
  foreignKeyViolation: '23503',
  uniqueViolation: '23505',
} as const

/** Whether PostgreSQL rejected a value in the query: classes 22 (data) and 23 (constraints). */
export function isDataError(error: unknown): boolean {
  return /^2[23]/.test(sqlStateOf(error) ?? '')
}

export function isUniqueViolation(error: unknown): boolean {
  return sqlStateOf(error) === sqlState.uniqueViolation
}

/** Whether PostgreSQL ended the statement, or its transaction, because it took too long. */
export function isStatementTimeout(error: unknown): boolean {
  return ['57014', '25P04'].includes(sqlStateOf(error) ?? '')
}

/** The API error of a failed query; undefined for a programming error, which becomes a 500. */
export function apiErrorOfSql(error: unknown): ApiError | undefined {
  // The collection was deleted between the check and the write.
  if (sqlStateOf(error) === sqlState.foreignKeyViolation && constraintOf(error).endsWith('_collection_exists'))
    return new ApiError('not_found')
  // An unused version of an agent was removed at the same moment. The next launch stores it again.
  if (sqlStateOf(error) === sqlState.foreignKeyViolation && constraintOf(error) === 'sessions_version_exists')
    return unavailable(error)
  if (error instanceof OutcomeUnknown) return outcomeUnknown(error)
  return error instanceof Overloaded || isPassing(error) ? unavailable(error) : undefined
}

function constraintOf(error: unknown): string {
  return String(fieldOf(error, 'constraint'))
}

/** The outcome of the commit is unknown. A retry with the same Idempotency-Key returns the stored answer, or runs the request once. */
function outcomeUnknown({ retryAfterSeconds, cause }: OutcomeUnknown): ApiError {
  return new ApiError('unavailable', {
    message:
      'The database did not answer in time, so it is unknown whether this request took effect. Repeat it with the same Idempotency-Key, or read the state first.',
    reason: 'outcome_unknown',
    retryAfterSeconds,
    cause,
  })
}

function unavailable(cause: unknown): ApiError {
  return new ApiError('unavailable', { retryAfterSeconds: 1, cause })
}
