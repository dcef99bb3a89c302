/** The connection broke, was closed, or gave no answer in time. Whatever was not answered may have been done. */
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
  // More connections wait at a socket than it keeps waiting.
  'EAGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
])

/** SQLSTATE of a failed query; undefined: it did not fail in PostgreSQL. */
export function sqlStateOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code
  // EPIPE has the form of one.
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !networkCodes.has(code) ? code : undefined
}

/** Whether the connection broke, could not be made, or went silent: nothing more can be asked on it. */
export function isConnectionLost(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code
  return error instanceof ConnectionLost || (typeof code === 'string' && networkCodes.has(code))
}

/** Whether a statement that was sent may have been committed although it failed: its connection ended before its answer came. */
export function isAnswerLost(error: unknown): boolean {
  return isConnectionLost(error) || /^(08|57P)/.test(sqlStateOf(error) ?? '')
}

/** Whether a lock was not free in time. All of the transaction was rolled back. */
export function isLocked(error: unknown): boolean {
  // 40P01: a deadlock, which is a lock that never gets free.
  const state = sqlStateOf(error)
  return state === '55P03' || state === '40P01'
}

/**
 * Whether the error is that of this connection: its server became a standby, or its prepared statements are not what it thinks, because a migration
 * changed their columns or somebody discarded them. PostgreSQL finds out before it runs the statement.
 */
export function isMisplaced(error: unknown): boolean {
  const state = sqlStateOf(error)
  // 0A000 of other routines is a feature that PostgreSQL does not have. 26000: there is no such statement.
  if (state === '0A000') return (error as { routine?: unknown }).routine === 'RevalidateCachedQuery'
  return state === '25006' || state === '26000'
}

/** Whether a try at a later time may succeed; nothing was written. 08: connection; 53: out of resources; 57P: shutting down; 58: the system below it; 40: lost a race. */
export function isPassing(error: unknown): boolean {
  const state = sqlStateOf(error)
  if (state === undefined) return isConnectionLost(error)
  // 57014, 25P04: took too long; 25P03: the client was silent in its transaction.
  return /^(08|53|57P|58|40)/.test(state) || isMisplaced(error) || ['25P03', '25P04', '55P03', '57014'].includes(state)
}
