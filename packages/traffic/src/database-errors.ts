/**
 * The connection broke, was closed, or did not answer in time. Statements without an answer may have been executed.
 */
export class ConnectionLost extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options)
    this.name = 'ConnectionLost'
  }
}

const networkCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ENOENT',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  // The backlog of the socket is full.
  'EAGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
])

function fieldOf(error: unknown, name: 'code' | 'routine' | 'message'): unknown {
  return typeof error === 'object' && error !== null && name in error ? Reflect.get(error, name) : undefined
}

/** The SQLSTATE of a failed query; undefined: the error is not from PostgreSQL. */
export function sqlStateOf(error: unknown): string | undefined {
  const code = fieldOf(error, 'code')
  // EPIPE has the same form.
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !networkCodes.has(code) ? code : undefined
}

/**
 * Whether the connection broke, could not be opened, did not answer, or leads to a server that became a standby: it
 * cannot be used again.
 */
export function isConnectionLost(error: unknown): boolean {
  return isBroken(error) || isReadOnly(error)
}

/**
 * Whether a statement that failed may have been committed: its connection, or that of a Citus coordinator to a worker,
 * ended before the answer arrived. onWorker: Citus sends the statement to a worker outside a transaction. The worker
 * may commit it after the coordinator has cancelled it at its time limit, because a worker that hangs reads no cancel
 * request.
 */
export function isAnswerLost(error: unknown, { onWorker = false } = {}): boolean {
  return isBroken(error) || (onWorker ? /^(08|57P|57014)/ : /^(08|57P)/).test(sqlStateOf(error) ?? '') || isWorkerLost(error)
}

/**
 * Routine and message of the errors after a worker was lost: one that committed by itself, or one whose connection
 * ended. Citus gives them no SQLSTATE of their own. For a connection, it repeats the message of libpq.
 */
const workerLost =
  /^(ErrorIfPostCommitFailedShardPlacements|ReportResultError .*(closed the connection|no connection to the server|(from|to) server|SSL))/

function isWorkerLost(error: unknown): boolean {
  return (
    sqlStateOf(error) === 'XX000' && workerLost.test(`${String(fieldOf(error, 'routine'))} ${String(fieldOf(error, 'message'))}`)
  )
}

function isBroken(error: unknown): boolean {
  const code = fieldOf(error, 'code')
  return error instanceof ConnectionLost || (typeof code === 'string' && networkCodes.has(code))
}

/** Whether the server is a standby, or was made read-only before another takes its place. It wrote nothing. */
export function isReadOnly(error: unknown): boolean {
  return sqlStateOf(error) === '25006'
}

/** Whether a lock was not free in time. The whole transaction was rolled back. */
export function isLocked(error: unknown): boolean {
  // 40P01: a deadlock, in which the lock never becomes free.
  const state = sqlStateOf(error)
  return state === '55P03' || state === '40P01'
}

/**
 * Whether only this connection is at fault: its server became a standby, or its prepared statements are not those of
 * the session, because a migration changed their columns, they were discarded, or a pooler changed the session.
 * PostgreSQL detects this before it runs the statement.
 */
export function isMisplaced(error: unknown): boolean {
  const state = sqlStateOf(error)
  // 26000: the prepared statement does not exist. 42P05: it exists already.
  return isReadOnly(error) || isOutdated(error) || state === '26000' || state === '42P05'
}

/** Whether the columns of a prepared statement have changed since. */
export function isOutdated(error: unknown): boolean {
  // 0A000 of other routines is a feature that PostgreSQL does not support.
  return sqlStateOf(error) === '0A000' && fieldOf(error, 'routine') === 'RevalidateCachedQuery'
}

/**
 * Whether a later attempt may succeed. Nothing was written, unless isAnswerLost is true. 08: connection; 53: out of
 * resources; 57P: shutting down; 58: the system below it; 40: a conflict; 57014, 25P04: took too long; 25P03: the
 * client was silent within its transaction.
 */
export function isPassing(error: unknown): boolean {
  const state = sqlStateOf(error)
  if (state === undefined) return isBroken(error)
  return (
    /^(08|53|57P|58|40|25P03|25P04|55P03|57014)/.test(state) ||
    isMisplaced(error) ||
    isWorkerLost(error) ||
    // A worker of a Citus cluster went away during a transaction, which is rolled back on all nodes.
    (state === 'XX000' && fieldOf(error, 'routine') === 'MarkRemoteTransactionFailed')
  )
}
