import { ApiError } from '#errors/api-error.ts'
import { apiErrorOfSql } from './sql-errors.ts'

/**
 * Whether the same call may succeed later: the database cannot be reached, closed the connection, is full, or reported
 * a conflict.
 */
export function isPassing(error: unknown): boolean {
  const told = error instanceof ApiError ? error : apiErrorOfSql(error)
  return told?.code === 'unavailable'
}
