import { sqlStateOf } from '@atrium/traffic/database-errors'
import type { Connections } from '@atrium/traffic/connections'
import { StartError } from '#errors/start-error.ts'
import type { MigrationFile } from './migration-files.ts'

export type Queryable = Pick<Connections, 'query'>

/**
 * SQL for the OID of the schema that has our tables, or gets them. It is not always `public`: PostgreSQL creates tables
 * in the first schema of the search path, by default the one with the name of the role, if there is one.
 */
export const ownSchema = `coalesce(
  (select relnamespace from pg_class where oid = to_regclass('schema_migration_checksum')),
  (select oid from pg_namespace where nspname = current_schema()))`

/** A database's record of a migration that was applied to it. */
export interface AppliedMigration {
  name: string
  sha256: string
  /** As in MigrationFile. Stored in the database for older code, which does not have the file. */
  contractOf: string | undefined
}

/** The applied migrations in order; empty for a new database. */
export async function listApplied(db: Queryable): Promise<AppliedMigration[]> {
  // to_jsonb, because a release before 0.2 created the table without the column.
  const text = `select name, sha256, to_jsonb(m) ->> 'contract_of' as "contractOf"
                  from schema_migration_checksum m order by name collate "C"`
  try {
    const { rows } = await db.query<{ name: string; sha256: string; contractOf: string | null }>(text)
    return rows.map((row) => ({ ...row, contractOf: row.contractOf ?? undefined }))
  } catch (error) {
    // The table does not exist.
    if (sqlStateOf(error) === '42P01') return []
    throw error
  }
}

/**
 * Which of the files are not applied yet. Throws StartError if this code cannot use the database: an applied file was
 * edited, or a newer release has removed what this code uses. A newer release that only added something does not
 * matter, so the previous release can be started again after an upgrade.
 */
export function findPending(applied: readonly AppliedMigration[], files: readonly MigrationFile[]): MigrationFile[] {
  const byName = new Map(files.map((file) => [file.name, file]))
  const newest = files.at(-1)?.name ?? ''
  const unknown = applied.filter(({ name }) => !byName.has(name))
  for (const { name, sha256 } of applied) {
    const ours = byName.get(name)
    if (ours && ours.checksum !== sha256) {
      throw new StartError(
        `Migration ${name} was edited after it was applied to this database: restore the applied file and put the change into a new migration`,
      )
    }
  }
  const done = new Set(applied.map(({ name }) => name))
  const pending = files.filter(({ name }) => !done.has(name))
  for (const { name, contractOf } of unknown) {
    const isNewer = name > newest && pending.length === 0
    if (isNewer && (contractOf === undefined || newest.slice(0, 4) >= contractOf)) continue
    throw new StartError(
      `The database is newer than this atrium, which does not have its migration ${name}` +
        `${isNewer ? ` and cannot use the database without migration ${contractOf}` : ''}: start a newer atrium, or restore a backup from before`,
    )
  }
  return pending
}
