import { Connection } from '@atrium/traffic/postgres/connection'
import { readColumn, statement, type Db } from '#db/database.ts'
import { bookkeepingTables, withoutTimeLimits } from '#db/migrate.ts'
import { listApplied, ownSchema } from '#db/schema-state.ts'
import { isRestored } from './backup-tables.ts'
import type { BackupHeader } from './manifest.ts'

/** The settings that determine how values are written as text. */
const sessionSettings = {
  timezone: 'UTC',
  datestyle: 'ISO',
  intervalstyle: 'postgres',
  client_encoding: 'UTF8',
  extra_float_digits: 1,
} as const

/** Opens a connection for a backup or a restore, without time limits for statements and transactions. */
export async function openConnection(url: string): Promise<Connection> {
  const connection = await Connection.open({
    url,
    connectMs: 30_000,
    answerMs: 24 * 60 * 60_000,
    settings: sessionSettings,
    readColumn,
  })
  await connection.query(withoutTimeLimits)
  return connection
}

/** For functions of stores. */
export function dbOn(connection: Connection): Db {
  return {
    query: async <Row>({ name, text }: { name: string; text: string }, values: unknown[]) =>
      (await connection.query({ name, text, values })).rows as Row[],
  }
}

const bufferBytes = 4 * 1024 * 1024

const startStatement = statement<{ at: string }>('backup-snapshot-start', "select date_trunc('milliseconds', now()) as at")

const partitionedStatement = statement<{ table: string }>(
  'backup-partitioned',
  `select relname::text as table from pg_class
    where relnamespace = ${ownSchema} and relkind = 'p' and not relispartition order by 1`,
)

/**
 * Fixes the snapshot of the connection. Returns a time before it: the transaction begins before its first statement
 * takes the snapshot, so everything that was committed by that time is included. No migration may run.
 *
 * Before that, it locks the tables with slots: a slot that is emptied with `truncate` after the snapshot is empty for
 * the snapshot too. An event that was numbered in between would be neither in event_outbox nor in events.
 */
export async function beginSnapshot(connection: Connection): Promise<string> {
  const partitioned = await dbOn(connection).query(partitionedStatement, [])
  const locked = partitioned.filter(({ table }) => isRestored(table)).map(({ table }) => quote(table))
  await connection.query('begin isolation level repeatable read, read only')
  // This statement takes no snapshot.
  if (locked.length > 0) await connection.query(`lock table ${locked.join(', ')} in access share mode`)
  const [row] = await dbOn(connection).query(startStatement, [])
  if (!row) throw new Error('the database has no time')
  return row.at
}

const tablesStatement = statement<{ table: string; columns: string[] }>(
  'backup-tables',
  // Generated columns are computed again by the restore. A partitioned table is one table, without its partitions.
  `select c.relname as table, array_agg(a.attname::text order by a.attnum) as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where c.relnamespace = ${ownSchema} and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> all ($1::text[])
    group by c.relname order by c.relname`,
)

const sequencesStatement = statement<{ name: string; last: number | null }>(
  'backup-sequences',
  `select sequencename::text as name, last_value as last from pg_sequences
    where schemaname = (select nspname from pg_namespace where oid = ${ownSchema}) order by sequencename`,
)

/** The contents of the snapshot, except for the keys. */
export async function describeSnapshot(
  connection: Connection,
): Promise<Pick<BackupHeader, 'tables' | 'sequences' | 'migrations'>> {
  const db = dbOn(connection)
  const tables = await db.query(tablesStatement, [bookkeepingTables])
  const sequences = await db.query(sequencesStatement, [])
  return {
    migrations: (await listApplied(connection)).map(({ name, sha256 }) => ({ name, sha256 })),
    tables: Object.fromEntries(tables.map(({ table, columns }) => [table, columns])),
    sequences: Object.fromEntries(sequences.map(({ name, last }) => [name, last])),
  }
}

/**
 * Streams the rows of a table in the text format of COPY. Each chunk ends at the end of a row. Returns how many rows
 * there were. The server is slowed down while no chunk is requested.
 */
export async function* copyOut(connection: Connection, table: string, columns: string[]): AsyncGenerator<Buffer, number> {
  let rows: Buffer[] = []
  let size = 0
  let wake = () => undefined as void
  const onCopyData = (row: Buffer) => {
    // Copied, because the parser reuses its buffer.
    rows.push(Buffer.from(row))
    size += row.length
    if (size >= bufferBytes) connection.pause()
    wake()
  }
  let result: { rowCount: number | null } | undefined
  let failure: unknown
  // COPY of a table by name refuses a partitioned one.
  const text = `copy (select ${columns.map(quote).join(', ')} from ${quote(table)}) to stdout`
  const done = connection.query({ text, timeoutMs: Infinity, onCopyData }).then(
    (answer) => (result = answer),
    (error: unknown) => (failure = error),
  )
  void done.then(() => wake())
  for (;;) {
    if (rows.length > 0) {
      const piece = Buffer.concat(rows)
      rows = []
      size = 0
      yield piece
      connection.resume()
    } else if (failure !== undefined) throw failure
    else if (result) return result.rowCount ?? 0
    else await new Promise<void>((resolve) => (wake = resolve))
  }
}

export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
