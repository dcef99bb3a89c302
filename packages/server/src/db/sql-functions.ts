import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { sqlStateOf } from '@atrium/traffic/database-errors'
import { StartError } from '#errors/start-error.ts'
import { addMissingColumn } from './lock-tries.ts'
import type { Queryable } from './schema-state.ts'

const packages = path.resolve(import.meta.dirname, '../../..')

/**
 * The folders with the current SQL functions, one per file beside the code that calls it: add-checked-items.sql defines
 * add_checked_items.
 */
export const functionFolders = [path.join(packages, 'server/src/features'), path.join(packages, 'space/src')]

/** The table with the version and the hash of each function, as it was last applied. */
export const functionTable = 'schema_function'

/**
 * This file is beside the migrations and has the version of each function. scripts/function-versions.ts writes it.
 */
export const versionsFile = 'functions.json'

/** Version and hash of each function, by its name. */
export type FunctionVersions = Record<string, { version: number; sha256: string }>

export interface FunctionFile {
  name: string
  sql: string
  sha256: string
  /**
   * The version counts the changes of the file. Without it, the newer of two files would be unknown, and a restart
   * of the previous release during an upgrade would restore its own function.
   */
  version: number
}

/**
 * The key of an advisory lock (arbitrary): two processes that start at the same time must not replace one function
 * at once.
 */
const lockKey = 4_177_301

/** The functions in these folders, with their versions from functions.json in `versionsFolder`. */
export async function readFunctions(folders: string[], versionsFolder: string): Promise<FunctionFile[]> {
  const versions = await readVersions(versionsFolder)
  const files = (await Promise.all(folders.map(readFolder))).flat()
  assertOneEach(files)
  return files.map((file) => ({ ...file, version: versions[file.name]?.version ?? 0 }))
}

export async function readVersions(folder: string): Promise<FunctionVersions> {
  const file = path.join(folder, versionsFile)
  return existsSync(file) ? (JSON.parse(await readFile(file, 'utf8')) as FunctionVersions) : {}
}

/**
 * Creates the functions that are newer than those in the database, in one transaction after the migrations. The
 * previous release may still run, so a function whose signature changes gets a new name, and a migration of the next
 * release drops the old one.
 */
export async function applyFunctions(client: Queryable, files: FunctionFile[], lockWaitMs: number): Promise<string[]> {
  if (files.length === 0) return []
  await client.query(
    `create table if not exists ${functionTable} (
       name text constraint schema_function_pkey primary key, sha256 text not null, version integer not null default 0
     )`,
  )
  await addMissingColumn(client, functionTable, 'version integer not null default 0', lockWaitMs)
  await client.query('begin')
  try {
    await client.query('select pg_advisory_xact_lock($1)', [lockKey])
    const old = findOldFunctions(await listFunctions(client), files)
    for (const { name, sql, sha256, version } of old) {
      await client.query(sql).catch((error: Error) => {
        throw new StartError(`SQL function ${name} failed: ${error.message}`, { cause: error })
      })
      await client.query(
        `insert into ${functionTable} (name, sha256, version) values ($1, $2, $3)
         on conflict on constraint schema_function_pkey do update set sha256 = excluded.sha256, version = excluded.version`,
        [name, sha256, version],
      )
    }
    await client.query('commit')
    return old.map(({ name }) => name)
  } catch (error) {
    // Without a connection there is nothing to roll back, and the first error is thrown.
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}

/**
 * Returns the files that must be applied: those with a higher version than in the database, and those with the same
 * version and another hash, which a developer is editing. A function of a newer release stays unchanged, even if
 * that release has dropped it.
 */
export function findOldFunctions(rows: readonly AppliedFunction[], files: FunctionFile[]): FunctionFile[] {
  const applied = new Map(rows.map((row) => [row.name, row]))
  return files.filter(({ name, version, sha256 }) => {
    const row = applied.get(name)
    if (!row || row.version !== version) return version > (row?.version ?? -1)
    return !row.exists || row.sha256 !== sha256
  })
}

export interface AppliedFunction {
  name: string
  sha256: string
  version: number
  /** False if the function was dropped since, by hand or together with a table. */
  exists: boolean
}

/** The functions that were applied to the database; empty for a new database. */
export async function listFunctions(client: Queryable): Promise<AppliedFunction[]> {
  try {
    // to_jsonb, because a release before 0.2 created the table without the column.
    const { rows } = await client.query<{ name: string; sha256: string; version: string | null; found: string }>(
      `select name, sha256, to_jsonb(f) ->> 'version' as version,
              exists (select from pg_proc where proname = replace(name, '-', '_') and pg_function_is_visible(oid))::text as found
         from ${functionTable} f`,
    )
    return rows.map(({ name, sha256, version, found }) => ({
      name,
      sha256,
      version: Number(version ?? 0),
      exists: found === 'true',
    }))
  } catch (error) {
    // The table does not exist.
    if (sqlStateOf(error) === '42P01') return []
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

async function readFolder(folder: string): Promise<Omit<FunctionFile, 'version'>[]> {
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.sql')).toSorted()
  return Promise.all(
    names.map(async (file) => {
      const sql = await readFile(path.join(folder, file), 'utf8')
      return { name: path.basename(file, '.sql'), sql, sha256: createHash('sha256').update(sql).digest('hex') }
    }),
  )
}
