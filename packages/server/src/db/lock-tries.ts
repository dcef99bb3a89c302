import { setTimeout as delay } from 'node:timers/promises'
import { Backoff } from '@atrium/traffic/backoff'
import { isLocked } from '@atrium/traffic/database-errors'
import { messageOf } from '#errors/caught.ts'
import { StartError } from '#errors/start-error.ts'
import { ownSchema, type Queryable } from './schema-state.ts'

/**
 * How long one attempt waits for a lock. Requests that need the same table queue behind it, and a request fails
 * after 2.5 s (timeouts.ts).
 */
const lockTimeoutMs = 1_000

/** Begins a transaction that waits for each lock as long as one attempt may. */
export const beginTry = `begin; set local lock_timeout = ${lockTimeoutMs}`

/** Retries while a lock is not free. During the pauses, requests that queued behind it are served. */
export async function retryUntil(client: Queryable, name: string, lockWaitMs: number, run: () => Promise<void>): Promise<void> {
  const backoff = new Backoff({ firstMs: 500, maxMs: 8_000, healthyMs: 0 })
  const startedAt = performance.now()
  for (;;) {
    try {
      return await run()
    } catch (error) {
      if (!isLocked(error)) throw new StartError(`Migration ${name} failed: ${messageOf(error)}`, { cause: error })
      const waitMs = backoff.failed()
      if (performance.now() - startedAt + waitMs > lockWaitMs) throw await tooLong(client, name, backoff.failures, error)
      await delay(waitMs)
    }
  }
}

/**
 * Adds a column that an early release did not have. Looks first: also if the column exists, ALTER TABLE locks readers
 * out, and those that come later queue behind it.
 */
export async function addMissingColumn(client: Queryable, table: string, column: string, lockWaitMs: number): Promise<void> {
  const [name = ''] = column.split(' ')
  const { rows } = await client.query(
    `select attname from pg_attribute where attrelid = '${table}'::regclass and attname = '${name}' and not attisdropped`,
  )
  if (rows.length > 0) return
  await retryUntil(client, `of ${table}`, lockWaitMs, async () => {
    await client.query(beginTry)
    try {
      await client.query(`alter table ${table} add column if not exists ${column}`)
      await client.query('commit')
    } catch (error) {
      await client.query('rollback').catch(() => undefined)
      throw error
    }
  })
}

/** How long a transaction holds a lock at least, if it is one that a migration waits for. */
const longMs = 1_000

/**
 * Names those that hold locks: the ones that have held some for a while, because requests hold them for milliseconds all
 * the time.
 */
async function tooLong(client: Queryable, name: string, tries: number, cause: unknown): Promise<StartError> {
  const before = new Set((await listTableHolders(client)).map(({ transaction }) => transaction))
  await delay(longMs)
  const lasting = (await listTableHolders(client)).filter(({ transaction }) => before.has(transaction))
  const named = lasting.slice(0, 3).map(({ holder }) => holder)
  const next =
    named.length > 0
      ? `These processes hold locks on tables: ${named.join(', ')}. Wait until they end, or end them with pg_terminate_backend, and run atrium migrate again`
      : 'No process holds the locks any more: run atrium migrate again'
  const error = new StartError(
    `Migration ${name} did not get its locks in ${tries} tries (${messageOf(cause)}). Nothing of it is applied. ${next}`,
  )
  error.cause = cause
  return error
}

/**
 * The transactions that hold locks on tables now. pg_locks is visible to every role; of sessions of other roles, the state
 * and the age are not. These come first, because one of them may be the oldest; then the others, the oldest first.
 */
async function listTableHolders(client: Queryable): Promise<{ transaction: string; holder: string }[]> {
  const { rows } = await client.query<{ transaction: string; holder: string }>(
    `select l.virtualtransaction as transaction, format('process %s (%s)', a.pid, concat_ws(', ', a.state,
              floor(extract(epoch from clock_timestamp() - a.xact_start))::text || ' s', 'role ' || a.usename, nullif(a.application_name, ''))) as holder
       from pg_stat_activity a
       join (select distinct l.pid, l.virtualtransaction from pg_locks l join pg_class c on c.oid = l.relation
              where l.locktype = 'relation' and l.granted and c.relnamespace = ${ownSchema}
                and l.database = (select oid from pg_database where datname = current_database())) l on l.pid = a.pid
      where a.pid <> pg_backend_pid()
      order by a.xact_start nulls first`,
  )
  return rows
}
