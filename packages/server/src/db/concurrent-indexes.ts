import { StartError } from '#errors/start-error.ts'
import type { Queryable } from './schema-state.ts'

/** A statement of a migration with the header `-- concurrently`. */
export interface IndexStatement {
  sql: string
  /** The name of the index. */
  name: string
  creates: boolean
}

const create = /^create (?:unique )?index concurrently (\w+)\s+on /
const drop = /^drop index concurrently if exists (\w+)$/

/** Throws StartError for any other statement, because repeating it after an interruption would not be safe. */
export function readIndexStatements(file: string, text: string): IndexStatement[] {
  const lines = text.split('\n').filter((line) => !line.trimStart().startsWith('--'))
  return lines
    .join('\n')
    .split(';')
    .flatMap((part) => {
      const sql = part.trim()
      if (sql === '') return []
      const created = create.exec(sql)?.[1]
      const name = created ?? drop.exec(sql)?.[1]
      if (name === undefined) {
        throw new StartError(
          `Migration ${file}: a file with "-- concurrently" may only have statements "create [unique] index concurrently NAME on …" ` +
            'and "drop index concurrently if exists NAME"',
        )
      }
      return [{ sql, name, creates: created !== undefined }]
    })
}

/**
 * Runs one statement, outside a transaction. An earlier interruption leaves an invalid index, which slows down
 * writes and serves no query: it is dropped, and the index is built again.
 */
export async function runIndexStatement(client: Queryable, { sql, name, creates }: IndexStatement): Promise<void> {
  if (creates) {
    const { rows } = await client.query<{ valid: string }>(
      `select indisvalid::text as valid from pg_index
        where indexrelid = (select oid from pg_class where relname = $1 and relkind = 'i' and pg_table_is_visible(oid))`,
      [name],
    )
    if (rows[0]?.valid === 'true') return
    if (rows[0]) await client.query(`drop index concurrently if exists ${name}`)
  }
  await client.query(sql)
}
