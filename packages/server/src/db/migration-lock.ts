import { setTimeout as delay } from 'node:timers/promises'
import type { Queryable } from './schema-state.ts'

/**
 * The lock key of Kysely's migrator, which earlier releases used, so that those releases and this one exclude each
 * other. A process that changes the schema holds it exclusively; a backup holds it shared while it reads the tables.
 */
const lockKey = '3853314791062309107'
/** A shorter wait is not reported. */
const firstLogAfterMs = 1_000
const logIntervalMs = 30_000

/**
 * Runs the work while no other process migrates this database and no backup reads it. Polls for the lock instead of
 * waiting in a statement: a waiting session holds a snapshot, and a concurrent index build would wait for its end.
 * `say` receives a line that names the holder of the lock, after a second and then twice a minute.
 */
export async function withMigrationLock<Result>(
  client: Queryable,
  say: (line: string) => void,
  work: () => Promise<Result>,
): Promise<Result> {
  await untilLocked(client, 'pg_try_advisory_lock', say)
  try {
    return await work()
  } finally {
    // A lost connection has released the lock already.
    await client.query(`select pg_advisory_unlock(${lockKey})`).catch(() => undefined)
  }
}

/**
 * Waits until nobody migrates this database, and keeps others from it until the returned function is called or the
 * session ends. Several sessions may hold this lock at once. `say` is that of `withMigrationLock`.
 */
export async function holdOffMigrations(client: Queryable, say: (line: string) => void): Promise<() => Promise<void>> {
  await untilLocked(client, 'pg_try_advisory_lock_shared', say)
  return async () => {
    await client.query(`select pg_advisory_unlock_shared(${lockKey})`)
  }
}

async function untilLocked(
  client: Queryable,
  tryLock: 'pg_try_advisory_lock' | 'pg_try_advisory_lock_shared',
  say: (line: string) => void,
): Promise<void> {
  let sayAt = performance.now() + firstLogAfterMs
  for (;;) {
    const { rows } = await client.query<{ locked: string }>(`select ${tryLock}(${lockKey})::text as locked`)
    if (rows[0]?.locked === 'true') return
    if (performance.now() > sayAt) {
      say(await describeHolder(client))
      sayAt = performance.now() + logIntervalMs
    }
    await delay(100 + 200 * Math.random())
  }
}

async function describeHolder(client: Queryable): Promise<string> {
  const [holder] = await listHolders(client, lockKey)
  const process = holder ? ` (PostgreSQL process ${holder.pid})` : ''
  return holder?.mode === 'ShareLock'
    ? `a backup reads the tables of this database${process}; waiting until it has read them`
    : `another process migrates this database${process}; waiting for it`
}

interface LockHolder {
  pid: string
  mode: string
}

/** The sessions that hold an advisory lock of this database. `key` is a positive bigint. */
export async function listHolders(client: Queryable, key: string): Promise<LockHolder[]> {
  const { rows } = await client.query<LockHolder>(
    `select pid::text, mode from pg_locks
      where locktype = 'advisory' and objsubid = 1 and granted
        and database = (select oid from pg_database where datname = current_database())
        and classid::bigint = ${key} >> 32 and objid::bigint = ${key} & 4294967295
      order by pid`,
  )
  return rows
}
