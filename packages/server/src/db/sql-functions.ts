import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Connections } from '@atrium/traffic/connections'
import { StartError } from '#errors/start-error.ts'

const packages = path.resolve(import.meta.dirname, '../../..')

/**
 * The folders with the current SQL functions, one per file beside the code that calls it: try-add-items.sql defines
 * try_add_items.
 */
export const functionFolders = [path.join(packages, 'server/src/features'), path.join(packages, 'space/src')]

/** The table with the hash of the last applied version of each function. */
export const functionTable = 'schema_function'

/** An arbitrary key of an advisory lock: two simultaneous starts must not replace one function at the same moment. */
const lockKey = 4_177_301

/**
 * Creates the functions whose file has changed since it was last applied, in one transaction after the migrations. The
 * previous release may still run, so a function whose signature changes gets a new name, and a migration of the next
 * release drops the old one.
 */
export async function applyFunctions(client: Pick<Connections, 'query'>, folders: string[]): Promise<string[]> {
  const files = (await Promise.all(folders.map(readFunctions))).flat()
  if (files.length === 0) return []
  assertOneEach(files)
  await client.query('begin')
  try {
    await client.query('select pg_advisory_xact_lock($1)', [lockKey])
    await client.query(
      `create table if not exists ${functionTable} (name text constraint schema_function_pkey primary key, sha256 text not null)`,
    )
    // One that was dropped since then, by hand or with a table, counts as not applied.
    const { rows } = await client.query<{ name: string; sha256: string }>(
      `select name, sha256 from ${functionTable}
       where exists (select from pg_proc where proname = replace(name, '-', '_') and pg_function_is_visible(oid))`,
    )
    const applied = new Map(rows.map(({ name, sha256 }) => [name, sha256]))
    const changed = files.filter(({ name, sha256 }) => applied.get(name) !== sha256)
    for (const { name, sql, sha256 } of changed) {
      await client.query(sql).catch((error: Error) => {
        throw new Error(`SQL function ${name} failed: ${error.message}`, { cause: error })
      })
      await client.query(
        `insert into ${functionTable} (name, sha256) values ($1, $2)
         on conflict on constraint schema_function_pkey do update set sha256 = excluded.sha256`,
        [name, sha256],
      )
    }
    await client.query('commit')
    return changed.map(({ name }) => name)
  } catch (error) {
    // Without a connection nothing is left to roll back, and the first error is the reason.
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}

/** Two files of one name would replace each other's function at every start. */
function assertOneEach(files: { name: string }[]): void {
  const seen = new Set<string>()
  for (const { name } of files) {
    if (seen.has(name)) throw new StartError(`There are two files ${name}.sql for SQL functions: rename one of them`)
    seen.add(name)
  }
}

async function readFunctions(folder: string) {
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.sql')).toSorted()
  return Promise.all(
    names.map(async (file) => {
      const sql = await readFile(path.join(folder, file), 'utf8')
      return { name: path.basename(file, '.sql'), sql, sha256: createHash('sha256').update(sql).digest('hex') }
    }),
  )
}
