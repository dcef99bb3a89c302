import { messageOf } from '#errors/caught.ts'
import type { Connections } from '@atrium/traffic/connections'
import { sqlStateOf } from '@atrium/traffic/database-errors'
import { Kysely, PostgresDialect, sql, type PostgresPool, type PostgresPoolClient } from 'kysely'
import { Migrator, type Migration } from 'kysely/migration'
import { StartError } from '#errors/start-error.ts'
import { migrationsFolder, readMigrationFiles, type MigrationFile } from './migration-files.ts'
import { applyFunctions, functionFolders, functionTable } from './sql-functions.ts'

/** Kysely's two tables and our checksums; the schema's dump leaves them out. */
export const bookkeepingTables = [
  'schema_migration',
  'schema_migration_lock',
  'schema_migration_checksum',
  functionTable,
] as const

/**
 * Applies the pending migrations of `folder`, then creates the SQL functions of `functions` that have changed. Several
 * processes can call it at once: one does the work, and the others wait.
 * The pool must connect to PostgreSQL directly and not through a pooler in transaction mode, because the lock belongs
 * to the session. Throws StartError if an applied file was edited, or if the database is newer than the code.
 */
export async function migrate(
  pool: Pick<Connections, 'connect'>,
  folder: string = migrationsFolder,
  functions: string[] = folder === migrationsFolder ? functionFolders : [],
): Promise<{ applied: string[]; functions: string[] }> {
  const files = await readMigrationFiles(folder)
  const connection = await pool.connect()
  // The limits of the connections are for requests. A migration, or the wait for one of another process, may take longer.
  const client: Queryable = {
    query: (text: string, values: readonly unknown[] = []) => connection.query({ text, values, timeoutMs: Infinity }),
  }
  try {
    await client.query('set statement_timeout = 0')
    await client.query('set lock_timeout = 0')
    await client.query('set idle_in_transaction_session_timeout = 0')
    return { applied: await applyPending(client, files), functions: await applyFunctions(client, functions) }
  } finally {
    // Closed and not reused: it would keep those settings.
    connection.release(true)
  }
}

type Queryable = Pick<Connections, 'query'>

async function applyPending(client: Queryable, files: MigrationFile[]): Promise<string[]> {
  const migrator = createMigrator(client, files)
  const applied: string[] = []
  // Migrator runs all pending migrations in one transaction. One step at a time gives each its own, so that a failure
  // does not roll back a long migration that succeeded before.
  while (await hasPending(client, files)) {
    const { error, results = [] } = await migrator.migrateUp()
    if (error) await explain(error, results.at(0)?.migrationName, client, files)
    applied.push(...results.map((result) => result.migrationName))
  }
  return applied
}

const latest = new Map<string, Promise<string | undefined>>()

/** The name of the newest migration in this version of the code, read once. */
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
  return name === undefined || (await findChecksums(pool)).has(name)
}

function createMigrator(client: Queryable, files: MigrationFile[]): Migrator {
  // Migrator works sequentially, so one connection serves as its pool. Kysely must not close it.
  const lent = { query: client.query.bind(client), release: () => {} } as unknown as PostgresPoolClient
  const pool: PostgresPool = { connect: async () => lent, end: async () => {}, options: {} }
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
  const migrations = Object.fromEntries(files.map((file) => [file.name, toMigration(file)]))
  const [migrationTableName, migrationLockTableName] = bookkeepingTables
  return new Migrator({ db, provider: { getMigrations: async () => migrations }, migrationTableName, migrationLockTableName })
}

function toMigration({ name, sql: text, checksum }: MigrationFile): Migration {
  return {
    async up(tx) {
      await sql`
        create table if not exists schema_migration_checksum (
          name text constraint schema_migration_checksum_pkey primary key,
          sha256 text not null
        )`.execute(tx)
      await sql`insert into schema_migration_checksum (name, sha256) values (${name}, ${checksum})`.execute(tx)
      // Without parameters it is sent as one simple query, which may hold many statements.
      await sql.raw(text).execute(tx)
    },
  }
}

async function hasPending(client: Queryable, files: MigrationFile[]): Promise<boolean> {
  const applied = await findChecksums(client)
  assertKnown(applied, files)
  return files.some(({ name }) => !applied.has(name))
}

async function findChecksums(db: Queryable): Promise<Map<string, string>> {
  try {
    const { rows } = await db.query<{ name: string; sha256: string }>('select name, sha256 from schema_migration_checksum')
    return new Map(rows.map(({ name, sha256 }) => [name, sha256]))
  } catch (error) {
    // The table does not exist: no migration was ever applied.
    if (sqlStateOf(error) === '42P01') return new Map()
    throw error
  }
}

function assertKnown(applied: Map<string, string>, files: MigrationFile[]): void {
  const checksums = new Map(files.map(({ name, checksum }) => [name, checksum]))
  for (const [name, sha256] of applied) {
    const ours = checksums.get(name)
    if (ours === undefined) {
      throw new StartError(
        `The database is newer than this atrium, which does not have its migration ${name}: start a newer atrium, or restore a backup from before`,
      )
    }
    if (ours !== sha256) {
      throw new StartError(
        `Migration ${name} was edited after it was applied to this database: restore the applied file and put the change into a new migration`,
      )
    }
  }
}

/** If a process with newer code migrated in between, that is the cause, and it gives the better message. */
async function explain(error: unknown, name: string | undefined, client: Queryable, files: MigrationFile[]): Promise<never> {
  await hasPending(client, files)
  throw new Error(`Migration ${name ?? ''} failed: ${messageOf(error)}`, { cause: error })
}
