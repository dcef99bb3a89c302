import { Connections } from '@atrium/traffic/connections'
import type { Connection } from '@atrium/traffic/postgres/connection'
import { isAnswerLost } from '@atrium/traffic/database-errors'
import { Lanes } from '@atrium/traffic/lanes'
import { retryLocked } from '@atrium/traffic/locked-retry'
import { OutcomeUnknown, Overloaded } from '@atrium/traffic/overloaded'
import { timeouts } from '@atrium/traffic/timeouts'
import { WakeUps } from '@atrium/traffic/wake-ups'
import pgTypes from 'pg-types'

/** A fixed query. Its name makes it a prepared statement: parsed and planned once per connection. */
export interface Statement<Row> {
  name: string
  text: string
  /** Whether it writes. If the connection of a write outside a transaction fails, its outcome is unknown. */
  writes: boolean
  /** one: fails at once on a lock that is held; the caller retries. many: is retried here. */
  tries: 'one' | 'many'
  /** The type of a row, for the type checker only. */
  readonly row?: Row
}

interface StatementOptions {
  /** Set this for a select that calls a writing function. For other statements it is derived from the text. */
  writes?: boolean
  tries?: 'one'
}

export function statement<Row>(name: string, text: string, { writes, tries }: StatementOptions = {}): Statement<Row> {
  return { name, text, writes: writes ?? !/^\s*(select|with recursive waiting)\b/.test(text), tries: tries ?? 'many' }
}

/** What a store function needs to read. */
export interface Db {
  query<Row>(statement: Statement<Row>, values: unknown[]): Promise<Row[]>
}

/** What a store function needs to wake other processes. */
export interface Waking {
  /**
   * Notifies the listeners of the channel, in all processes, after the commit: in a transaction its own, else what was
   * written before the call. A notification can be lost, so every listener also polls. See wake-ups.ts.
   */
  wake(channel: string, payload?: string): void
}

declare const inTransaction: unique symbol

/**
 * A Db inside a transaction. It is a distinct type, so that a write which needs a transaction does not compile outside
 * one.
 */
export interface Tx extends Db, Waking {
  readonly [inTransaction]: true
}

export interface Database extends Db, Waking {
  readonly pool: Connections
  /**
   * Runs `run` and commits. If another transaction holds a lock for long, it is rolled back and run again after a
   * pause, so `run` must have no effects outside the database.
   */
  transaction<T>(run: (tx: Tx) => Promise<T>): Promise<T>
  /** Like `transaction`, but runs once and fails on a lock that is held. For batches, whose caller retries. */
  transactionOnce<T>(run: (tx: Tx) => Promise<T>): Promise<T>
  /**
   * Limits transactions that lock the same row, such as a collection, to a few at once per key. Callers that wait for
   * one row thus leave connections for all others.
   */
  lane(key: string): Pick<Database, 'transaction'>
  close(): Promise<void>
}

interface DatabaseOptions {
  url: string
  maxConnections: number
  /** Whether the address may lead through a pooler in transaction mode. */
  isPooled?: boolean
  /** The time limits of a query and of a transaction. Default: those of timeouts.ts. */
  queryTimeoutMs?: number
  /** Called when an idle connection breaks; the pool replaces it by itself. */
  onConnectionError: (error: Error) => void
  /** Called when wake-ups were not sent. Absent: ignored, because their receivers poll. */
  onWakeUpError?: (error: Error) => void
}

export function openDatabase(options: DatabaseOptions): Database {
  const { url, maxConnections, isPooled = false, queryTimeoutMs, onConnectionError, onWakeUpError } = options
  const connections = new Connections({
    url,
    max: maxConnections,
    isPooled,
    readColumn,
    onError: onConnectionError,
    ...(queryTimeoutMs === undefined ? {} : { answerMs: queryTimeoutMs }),
  })
  const wakeUps = new WakeUps(connections, onWakeUpError ?? (() => undefined))
  const lanes = new Lanes()
  const transactionMs = Math.max(queryTimeoutMs ?? 0, timeouts.transactionMs)

  const untilMs = () => performance.now() + transactionMs
  const once = <T>(run: (tx: Tx) => Promise<T>, terms: Partial<Terms> = {}) =>
    runTransaction({ connections, wakeUps }, run, { use: 'transaction', untilMs: untilMs(), isFirst: true, ...terms })
  return {
    pool: connections,
    query: (stmt, values) =>
      stmt.tries === 'one' ? runAlone(connections, stmt, values) : retryLocked(() => runAlone(connections, stmt, values)),
    transaction: (run) => {
      const terms = { untilMs: untilMs() }
      return retryLocked((tries) => once(run, { ...terms, isFirst: tries === 0 }))
    },
    transactionOnce: (run) => once(run, { use: 'statement' }),
    lane: (key) => ({
      transaction: (run) => {
        const terms = { untilMs: untilMs() }
        return lanes.run(key, (isFirst) => once(run, { ...terms, isFirst }))
      },
    }),
    wake: (channel, payload = '') => wakeUps.add(channel, payload),
    close: async () => {
      await wakeUps.close()
      await connections.end()
    },
  }
}

const aliveStatement = statement<{ one: number }>('database-alive', 'select 1 as one')

/** Throws if the database does not answer in time. */
export async function assertAlive(db: Db): Promise<void> {
  await db.query(aliveStatement, [])
}

/** Runs one statement outside a transaction, which commits it. */
async function runAlone<Row>(connections: Connections, stmt: Statement<Row>, values: unknown[]): Promise<Row[]> {
  const connection = await connections.acquire('statement')
  try {
    return await runOn(connection, stmt, values)
  } catch (error) {
    throw stmt.writes && isAnswerLost(error) ? new OutcomeUnknown(error) : error
  } finally {
    connections.release(connection)
  }
}

async function runOn<Row>(
  connection: Connection,
  { name, text }: Statement<Row>,
  values: unknown[],
  timeout?: { timeoutMs: number },
): Promise<Row[]> {
  const result = await connection.query({ name, text, values, ...timeout })
  return result.rows as Row[]
}

interface Terms {
  use: 'statement' | 'transaction'
  untilMs: number
  isFirst: boolean
}

/** A failure before the commit is sent has no effect: PostgreSQL rolls back the transaction of a closed connection. */
async function runTransaction<T>(
  { connections, wakeUps }: { connections: Connections; wakeUps: WakeUps },
  run: (tx: Tx) => Promise<T>,
  { use, untilMs, isFirst }: Terms,
): Promise<T> {
  // Checked before the wait, because the time may have passed elsewhere.
  timeoutUntil(untilMs)
  const connection = await connections.acquire(use)
  try {
    const begin = isFirst ? 'begin' : `begin; set local lock_timeout = ${timeouts.lockAgainMs}`
    await connection.query({ text: begin, ...timeoutUntil(untilMs) })
    const wakes: [channel: string, payload: string][] = []
    const tx = {
      wake: (channel: string, payload = '') => void wakes.push([channel, payload]),
      query: (stmt: Statement<never>, values: unknown[]) => runOn(connection, stmt, values, timeoutUntil(untilMs)),
    } as unknown as Tx
    const result = await run(tx)
    // Also when its outcome is unknown: a wake-up for nothing does no harm.
    await commit(connection, untilMs).finally(() => wakes.forEach((wake) => wakeUps.add(...wake)))
    return result
  } catch (error) {
    // If this fails too, release finds the connection closed or still in the transaction, and does not reuse it.
    if (connection.isOpen) await connection.query('rollback').catch(() => undefined)
    throw error
  } finally {
    connections.release(connection)
  }
}

/** The minimum wait for a commit. Once it is sent, only its answer shows the outcome. */
const leastCommitMs = 1_000

async function commit(connection: Connection, untilMs: number): Promise<void> {
  let command: string | undefined
  try {
    ;({ command } = await connection.query({
      text: 'commit',
      ...timeoutUntil(Math.max(untilMs, performance.now() + leastCommitMs)),
    }))
  } catch (error) {
    throw isAnswerLost(error) ? new OutcomeUnknown(error) : error
  }
  // PostgreSQL answers ROLLBACK if a statement failed and its error was swallowed.
  if (command !== 'COMMIT') throw new Error('a failed transaction cannot be committed')
}

function timeoutUntil(untilMs: number): { timeoutMs: number } | undefined {
  const leftMs = Math.ceil(untilMs - performance.now())
  if (leftMs <= 0) throw new Overloaded('a transaction took too long')
  return leftMs < timeouts.answerMs ? { timeoutMs: leftMs } : undefined
}

/** How a column becomes a value: times as RFC 3339, counts as numbers. */
export function readColumn(oid: number): (text: string) => unknown {
  if (oid === pgTypes.builtins.TIMESTAMPTZ) return toRfc3339
  // Counts and sequence numbers stay below 2^53.
  if (oid === pgTypes.builtins.INT8) return Number
  return pgTypes.getTypeParser(oid, 'text') as (text: string) => unknown
}

/** PostgreSQL's `2026-11-20 09:30:00.12+00` as RFC 3339 with milliseconds; sessions are in UTC. */
function toRfc3339(text: string): string {
  // Behind a pooler without DATABASE_DIRECT_URL, another client may have changed the time zone of the session. An error
  // is better than a wrong time.
  if (!text.endsWith('+00')) throw new Error('the session of the database is not in UTC')
  const millis = text.slice(20, text.indexOf('+', 19)).padEnd(3, '0')
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${millis}Z`
}
