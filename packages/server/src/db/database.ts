import pg from 'pg'
import { isConnectionLost } from './sql-errors.ts'

/** A fixed query. The name makes it a prepared statement: parsed and planned once a connection. */
export interface Statement<Row> {
  name: string
  text: string
  /** Only for the type checker: what a row looks like. */
  readonly row?: Row
}

export function statement<Row>(name: string, text: string): Statement<Row> {
  return { name, text }
}

/** What a store function needs to read. */
export interface Db {
  query<Row>(statement: Statement<Row>, values: unknown[]): Promise<Row[]>
}

declare const inTransaction: unique symbol

/** A Db inside a transaction: a type of its own, so that a write that must be in one does not compile outside it. */
export interface Tx extends Db {
  readonly [inTransaction]: true
}

export interface Database extends Db {
  readonly pool: pg.Pool
  transaction<T>(run: (tx: Tx) => Promise<T>): Promise<T>
  close(): Promise<void>
}

interface DatabaseOptions {
  url: string
  maxConnections: number
  /** How long one query may take; absent: 8 seconds. */
  queryTimeoutMs?: number
  /** Called when an idle connection breaks; the pool replaces it by itself. */
  onConnectionError: (error: Error) => void
}

export function openDatabase(options: DatabaseOptions): Database {
  // A database that went silent answers no timeout of its own. Longer than a repeat waits for its idempotency key.
  const queryTimeoutMs = options.queryTimeoutMs ?? 8_000
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.maxConnections,
    connectionTimeoutMillis: 5_000,
    query_timeout: queryTimeoutMs,
    idleTimeoutMillis: 60_000,
    options: `-c timezone=UTC -c statement_timeout=${Math.max(30_000, queryTimeoutMs)} -c idle_in_transaction_session_timeout=30s`,
    types: { getTypeParser },
  })
  // Without a listener an idle connection that breaks would end the process.
  pool.on('error', options.onConnectionError)

  return {
    pool,
    query: (stmt, values) => runOn(pool, stmt, values),
    transaction: (run) => transaction(pool, run),
    close: () => pool.end(),
  }
}

async function runOn<Row>(client: pg.Pool | pg.PoolClient, { name, text }: Statement<Row>, values: unknown[]): Promise<Row[]> {
  const result = await (client as pg.Pool).query({ name, text, values })
  return result.rows as Row[]
}

async function transaction<T>(pool: pg.Pool, run: (tx: Tx) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let broken: Error | undefined
  // The pool listens only while a connection is idle: one that is lost in a transaction would end the process.
  const lose = (error: Error) => {
    broken = error
  }
  client.on('error', lose)
  try {
    await client.query('begin')
    const tx = { query: (stmt: Statement<never>, values: unknown[]) => runOn(client, stmt, values) } as unknown as Tx
    const result = await run(tx)
    await client.query('commit')
    return result
  } catch (error) {
    if (isConnectionLost(error)) broken = error as Error
    else await client.query('rollback').catch(lose)
    throw error
  } finally {
    client.off('error', lose)
    // A connection that was lost, or could not roll back, is thrown away, not given to the next.
    client.release(broken)
  }
}

function getTypeParser(oid: number, format?: 'text' | 'binary'): (text: string) => unknown {
  if (oid === pg.types.builtins.TIMESTAMPTZ) return toRfc3339
  // Counts and sequence numbers stay below 2^53.
  if (oid === pg.types.builtins.INT8) return Number
  return pg.types.getTypeParser(oid, format)
}

/** PostgreSQL's `2026-11-20 09:30:00.12+00` as RFC 3339 with milliseconds; sessions run in UTC. */
function toRfc3339(text: string): string {
  const millis = text.slice(20, text.indexOf('+', 19)).padEnd(3, '0')
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${millis}Z`
}
