import { isLocked, isMisplaced, isPassing, sqlStateOf } from '@atrium/traffic/database-errors'
import { OutcomeUnknown } from '@atrium/traffic/overloaded'

/**
 * Whether a node refused or cut the connection, did not answer in time, or has no resources left. A lock, a conflict, or
 * an error of the rows of one tenant is none.
 */
export function isNodeFault(error: unknown): boolean {
  const cause = causeOf(error)
  if (isCoordinatorFull(cause)) return false
  // 40: a conflict with another transaction. A misplaced statement is the fault of one connection.
  return isPassing(cause) && !isLocked(cause) && !isMisplaced(cause) && !sqlStateOf(cause)?.startsWith('40')
}

/**
 * Whether the coordinator has no connection left, which says nothing about a worker. If a worker has none left, Citus
 * reports a connection failure (08006).
 */
export function isCoordinatorFull(error: unknown): boolean {
  return sqlStateOf(causeOf(error)) === '53300'
}

function causeOf(error: unknown): unknown {
  return error instanceof OutcomeUnknown ? error.cause : error
}
