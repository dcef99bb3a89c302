import { ApiError } from '#errors/api-error.ts'
import { apiErrorOfSql } from './sql-errors.ts'

/** Whether the same call may succeed in a while: the database is away, ends the connection, is full or lost a race. */
export function isPassing(error: unknown): boolean {
  const told = error instanceof ApiError ? error : apiErrorOfSql(error)
  return told?.code === 'unavailable'
}
