import type { Connections } from '@atrium/traffic/connections'
import { StartError } from '#errors/start-error.ts'
import { readIndexStatements, runIndexStatement } from './concurrent-indexes.ts'
import { addMissingColumn, beginTry, retryUntil } from './lock-tries.ts'
import { migrationsFolder, readMigrationFiles, type MigrationFile } from './migration-files.ts'
import { listHolders, withMigrationLock } from './migration-lock.ts'
import { findPending, listApplied, type AppliedMigration, type Queryable } from './schema-state.ts'
import {
  applyFunctions,
  findOldFunctions,
  functionFolders,
  functionTable,
  listFunctions,
  readFunctions,
  type AppliedFunction,
} from './sql-functions.ts'

/** This table exists during a restore, and after a restore that did not complete. */
export const restoreMarker = 'restore_in_progress'

/**
 * The session of a restore holds this advisory lock until it ends. Unlike the marker, the lock does not remain after a
 * killed restore.
 */
export const restoreLockKey = '7310025491123310544'

/** The migrator's own tables, and two of earlier releases. The dump of the schema omits them. */
export const bookkeepingTables = [
  'schema_migration',
  'schema_migration_lock',
  'schema_migration_checksum',
  functionTable,
  restoreMarker,
] as const

export interface MigrateOptions {
  /** How long each migration waits for its locks. */
  lockWaitMs?: number
  /** Receives progress messages, one line each. */
  say?: (line: string) => void
  /** Receives a line while another process keeps this one waiting. Default: `say`. */
  sayWaiting?: (line: string) => void
  /** For a restore: applies these migrations and no function. */
  only?: ReadonlySet<string>
  /** For a restore: accepts a database into which a backup was restored only in part. */
  restoring?: boolean
}

/**
 * Applies the pending migrations of `folder`, then creates the SQL functions of `functions` that have changed. Several
 * processes can call it at once: one does the work, and the others wait. Where there is nothing to do, it takes no lock.
 * The pool must connect to PostgreSQL directly and not through a pooler in transaction mode, because the lock belongs
 * to the session. Throws StartError if an applied file was edited, if the database is too new for the code, or if the
 * locks could not be had in time.
 */
export async function migrate(
  pool: Pick<Connections, 'connect'>,
  folder: string = migrationsFolder,
  functions: string[] = folder === migrationsFolder ? functionFolders : [],
  { lockWaitMs = 120_000, say = () => undefined, sayWaiting = say, only, restoring = false }: MigrateOptions = {},
): Promise<PendingWork> {
  const files = (await readMigrationFiles(folder)).filter(({ name }) => only === undefined || only.has(name))
  const defined = only ? [] : await readFunctions(functions, folder)
  return withOwnSession(pool, async (client) => {
    if (!restoring) await assertNotHalfRestored(client)
    const pending = await findWork(client, files, defined)
    if (pending.applied.length === 0 && pending.functions.length === 0) return pending
    return withMigrationLock(client, sayWaiting, async () => {
      // A restore that began meanwhile has marked the database while it held the same lock.
      if (!restoring) await assertNotHalfRestored(client)
      return {
        applied: await applyPending(client, files, lockWaitMs, say),
        functions: await applyFunctions(client, defined, lockWaitMs),
      }
    })
  })
}

/**
 * Throws StartError while a restore runs, and after one that was interrupted or found wrong data: a part must not be
 * mistaken for the whole.
 */
export async function assertNotHalfRestored(client: Queryable): Promise<void> {
  const { rows } = await client.query<{ found: string | null }>(`select to_regclass('${restoreMarker}')::text as found`)
  if (!rows[0]?.found) return
  const [restore] = await listHolders(client, restoreLockKey)
  throw new StartError(
    restore
      ? `atrium restore is writing into this database (PostgreSQL process ${restore.pid}): wait until it has ended, then run this command again`
      : 'a backup was restored into this database only in part: run atrium restore again, with the same archive or another one',
  )
}

/** Names of migrations and of SQL functions. */
export interface PendingWork {
  applied: string[]
  functions: string[]
}

/** Returns what `migrate` would apply, without applying it. For a command: the pool must be direct, as for `migrate`. */
export async function findPendingWork(pool: Pick<Connections, 'connect'>): Promise<PendingWork> {
  const [files, defined] = await readOwn()
  return withOwnSession(pool, async (client) => {
    await assertNotHalfRestored(client)
    return findWork(client, files, defined)
  })
}

/** Returns what `migrate` would apply to a database that has these. For a request, whose statements have time limits. */
export async function comparePendingWork(
  applied: readonly AppliedMigration[],
  functions: readonly AppliedFunction[],
): Promise<PendingWork> {
  const [files, defined] = await readOwn()
  return compare(applied, files, functions, defined)
}

type FunctionFiles = Awaited<ReturnType<typeof readFunctions>>

const readOwn = async () =>
  [await readMigrationFiles(migrationsFolder), await readFunctions(functionFolders, migrationsFolder)] as const

async function findWork(client: Queryable, files: MigrationFile[], defined: FunctionFiles): Promise<PendingWork> {
  return compare(await listApplied(client), files, await listFunctions(client), defined)
}

function compare(
  applied: readonly AppliedMigration[],
  files: MigrationFile[],
  functions: readonly AppliedFunction[],
  defined: FunctionFiles,
): PendingWork {
  return {
    applied: findPending(applied, files).map(({ name }) => name),
    functions: findOldFunctions(functions, defined).map(({ name }) => name),
  }
}

/**
 * Removes the time limits of a session: ours, and those that an operator has set for the role, the database or the
 * server. PostgreSQL 17 added the one of a whole transaction.
 */
export const withoutTimeLimits = `set statement_timeout = 0; set lock_timeout = 0; set idle_in_transaction_session_timeout = 0;
  set idle_session_timeout = 0; select set_config(name, '0', false) from pg_settings where name = 'transaction_timeout'`

/**
 * Runs `work` on one connection without the time limits for requests. A migration, or the wait for another process
 * that migrates, may take longer.
 */
export async function withOwnSession<Result>(
  pool: Pick<Connections, 'connect'>,
  work: (client: Queryable) => Promise<Result>,
): Promise<Result> {
  const connection = await pool.connect()
  const client: Queryable = {
    query: (text: string, values: readonly unknown[] = []) => connection.query({ text, values, timeoutMs: Infinity }),
  }
  try {
    await client.query(withoutTimeLimits)
    return await work(client)
  } finally {
    // Closed instead of reused, because it would keep these settings.
    connection.release(true)
  }
}

async function applyPending(
  client: Queryable,
  files: MigrationFile[],
  lockWaitMs: number,
  say: (line: string) => void,
): Promise<string[]> {
  const applied = await listApplied(client)
  const pending = findPending(applied, files)
  if (applied.length === 0) await assertUtf8(client)
  if (pending.length > 0) await prepareTable(client, lockWaitMs)
  for (const file of pending) {
    say(`migration ${file.name}`)
    const run = file.concurrently ? () => runConcurrently(client, file) : () => runInTransaction(client, file)
    await retryUntil(client, file.name, lockWaitMs, run)
  }
  return pending.map(({ name }) => name)
}

/** PostgreSQL rejects each text with a character that the encoding of the database lacks. It cannot be changed later. */
async function assertUtf8(client: Queryable): Promise<void> {
  const { rows } = await client.query<{ server_encoding: string }>('show server_encoding')
  const encoding = rows[0]?.server_encoding
  if (encoding === 'UTF8') return
  throw new StartError(
    `DATABASE_URL: the encoding of the database is ${encoding} and must be UTF8: create another one with "create database NAME owner ROLE encoding 'UTF8' template template0"`,
  )
}

/** `contract_of`: the migration that older code must have. See MigrationFile. */
async function prepareTable(client: Queryable, lockWaitMs: number): Promise<void> {
  await client.query(
    `create table if not exists schema_migration_checksum (
       name text constraint schema_migration_checksum_pkey primary key,
       sha256 text not null,
       contract_of text
     )`,
  )
  await addMissingColumn(client, 'schema_migration_checksum', 'contract_of text', lockWaitMs)
}

/** Applies a migration. The migration and its row commit together. */
async function runInTransaction(client: Queryable, file: MigrationFile): Promise<void> {
  await client.query(beginTry)
  try {
    await insertApplied(client, file)
    // Without parameters it is sent as one simple query, which may hold many statements.
    await client.query(file.sql)
    await client.query('commit')
  } catch (error) {
    // Without a connection there is nothing to roll back, and the first error is thrown.
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}

/**
 * Runs each statement separately, so that the next attempt continues an interrupted migration. These statements wait
 * for locks without a limit, because concurrent builds block neither reads nor writes.
 */
async function runConcurrently(client: Queryable, file: MigrationFile): Promise<void> {
  for (const statement of readIndexStatements(file.name, file.sql)) await runIndexStatement(client, statement)
  await insertApplied(client, file)
}

async function insertApplied(client: Queryable, { name, checksum, contractOf }: MigrationFile): Promise<void> {
  await client.query('insert into schema_migration_checksum (name, sha256, contract_of) values ($1, $2, $3)', [
    name,
    checksum,
    contractOf ?? null,
  ])
}

const latest = new Map<string, Promise<string | undefined>>()

/** The name of the newest migration in this version of the code. Read once. */
export async function latestMigration(folder: string = migrationsFolder): Promise<string | undefined> {
  const known = latest.get(folder) ?? readMigrationFiles(folder).then((files) => files.at(-1)?.name)
  latest.set(folder, known)
  return known
}

/**
 * Whether the database has every migration that this code needs. True also for a newer database, as in a rolling
 * update.
 */
export async function migrationsDone(pool: Queryable, folder: string = migrationsFolder): Promise<boolean> {
  const name = await latestMigration(folder)
  return name === undefined || (await listApplied(pool)).some((applied) => applied.name === name)
}
