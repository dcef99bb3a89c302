import { setTimeout as delay } from 'node:timers/promises'
import type { Connection } from '@atrium/traffic/postgres/connection'
import { restoreLockKey, restoreMarker } from '#db/migrate.ts'
import { withMigrationLock } from '#db/migration-lock.ts'
import { ownSchema } from '#db/schema-state.ts'
import { StartError } from '#errors/start-error.ts'
import { ownerOfKey } from '../blob-deletions/blob-keys.ts'
import type { BackupHeader } from './manifest.ts'
import { quote } from './snapshot-store.ts'

/** The server may notice only after a while that the process of an earlier restore was killed. */
const lockWaitMs = 5_000

/**
 * Prepares an empty database for a restore and marks it, so that nothing starts on it before the restore is
 * complete. Removes what an earlier, killed restore left. Throws StartError if the database has any other content,
 * or if another restore writes into it.
 */
export async function claimEmptyDatabase(connection: Connection): Promise<void> {
  await lockOutOtherRestores(connection)
  // A server that starts at the same time has either created its tables, which are found here, or finds the mark.
  await withMigrationLock(
    connection,
    () => undefined,
    async () => {
      const { rows } = await connection.query<{ name: string }>(
        // Without those of extensions: Citus puts views into the schema.
        `select relname::text as name from pg_class c
          where relnamespace = ${ownSchema} and relkind in ('r', 'p', 'v', 'm', 'S', 'f')
            and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')`,
      )
      const names = new Set(rows.map(({ name }) => name))
      if (names.has(restoreMarker)) await removeEverything(connection)
      else if (names.size > 0) {
        throw new StartError(
          'a restore needs an empty database, and this one has tables: make a new database, or use another ATRIUM_DATA_DIR',
        )
      } else await connection.query(`create table ${restoreMarker} (started_at timestamptz(3) not null default now())`)
    },
  )
}

async function lockOutOtherRestores(connection: Connection): Promise<void> {
  for (const startedAt = performance.now(); ; await delay(100)) {
    const { rows } = await connection.query<{ locked: string }>(`select pg_try_advisory_lock(${restoreLockKey})::text as locked`)
    if (rows[0]?.locked === 'true') return
    if (performance.now() - startedAt > lockWaitMs)
      throw new StartError('another restore writes into this database: wait until it has ended, or end it')
  }
}

/** Everything but the mark, which must exist at every moment. */
async function removeEverything(connection: Connection): Promise<void> {
  await connection.query(
    `do $$ declare one record; begin
       for one in select relname as name from pg_class
                   where relnamespace = ${ownSchema} and relkind in ('r', 'p') and relname <> '${restoreMarker}' loop
         execute format('drop table if exists %I cascade', one.name);
       end loop;
       for one in select relname as name from pg_class where relnamespace = ${ownSchema} and relkind = 'S' loop
         execute format('drop sequence if exists %I cascade', one.name);
       end loop;
       for one in select p.oid::regprocedure as name from pg_proc p
                   where pronamespace = ${ownSchema}
                     and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e') loop
         execute format('drop routine if exists %s cascade', one.name);
       end loop;
     end $$`,
  )
}

/** The DDL of the foreign keys. They are created again, which checks them, once all rows are there. */
export interface ForeignKey {
  table: string
  name: string
  ddl: string
}

/**
 * Begins the transaction that fills the tables. Foreign keys and triggers are disabled in it: rows come in the order
 * of the tables' names, and the counts that triggers maintain are in the archive.
 */
export async function beginLoad(connection: Connection, tables: string[]): Promise<ForeignKey[]> {
  await connection.query('begin')
  const { rows } = await connection.query<ForeignKey>(
    `select conrelid::regclass::text as table, conname::text as name, pg_get_constraintdef(oid) as ddl
       from pg_constraint where contype = 'f' and connamespace = ${ownSchema}`,
  )
  for (const { table, name } of rows) await connection.query(`alter table ${table} drop constraint ${quote(name)}`)
  for (const table of tables) await connection.query(`alter table ${quote(table)} disable trigger user; truncate ${quote(table)}`)
  return rows
}

/** Fails if the data does not fit the columns or violates a constraint. */
export async function copyIn(connection: Connection, table: string, columns: string[], rows: Buffer): Promise<number> {
  const text = `copy ${quote(table)} (${columns.map(quote).join(', ')}) from stdin`
  const { rowCount } = await connection.query({ text, timeoutMs: Infinity, copyData: toPieces(rows) })
  return rowCount ?? 0
}

/** The protocol does not limit the size of a message, but the server allocates memory for each. */
async function* toPieces(data: Buffer): AsyncGenerator<Buffer> {
  const pieceBytes = 256 * 1024
  for (let at = 0; at < data.length; at += pieceBytes) yield data.subarray(at, at + pieceBytes)
}

export async function commitLoad(
  connection: Connection,
  { tables, sequences }: BackupHeader,
  foreignKeys: readonly ForeignKey[],
): Promise<void> {
  for (const { table, name, ddl } of foreignKeys)
    await connection.query(`alter table ${table} add constraint ${quote(name)} ${ddl}`)
  for (const table of Object.keys(tables)) await connection.query(`alter table ${quote(table)} enable trigger user`)
  for (const [name, last] of Object.entries(sequences)) {
    if (last !== null) await connection.query('select setval($1::regclass, $2)', [quote(name), last])
  }
  await connection.query('commit')
  // New tables have no statistics, and the later checks join them.
  await connection.query('analyze')
}

/** Marks the restore as complete: the database can be used. The restrictions of the window stay in force. */
export async function finishRestore(connection: Connection, snapshotAt: string): Promise<void> {
  await connection.query('begin')
  await connection.query('insert into restores (snapshot_at) values ($1)', [snapshotAt])
  // The backup's time may be later than the restore if the clocks differ. The log would then not wait for its witnesses.
  await connection.query('update log_tree set heard_at = null')
  await connection.query(`drop table ${restoreMarker}; commit`)
}

/**
 * The type of a stored file, from the rows that were restored before it: an archive does not contain it, because
 * files on a disk have no type. undefined: no row names the file.
 */
export async function findMime(connection: Connection, key: string): Promise<string | undefined> {
  const owner = ownerOfKey(key)
  if (!owner) return undefined
  const format = /\/w[0-9]+\.([a-z]+)$/.exec(key)?.[1]
  if (format !== undefined) return `image/${format}`
  const { tenantId, collectionId, artifactId, isUpload } = owner
  const [table, id] = isUpload ? ['artifact_uploads', 'artifact_id'] : ['artifacts', 'id']
  const { rows } = await connection.query<{ mime: string | null }>(
    `select mime from ${table} where tenant_id = $1 and collection_id = $2 and ${id} = $3`,
    [tenantId, collectionId, artifactId],
  )
  return rows[0]?.mime ?? undefined
}
