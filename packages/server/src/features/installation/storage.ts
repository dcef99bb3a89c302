import type { HandlerOf, Handlers } from '#features/handler.ts'
import { sumStoredBytes } from '#features/limits/store.ts'
import type { Db } from '#db/database.ts'
import { measureDatabase } from './queue-store.ts'
import { measureSpreadTables, measureTables, type TableSize } from './storage-store.ts'
import { findDatabaseVersions } from './version-store.ts'

const readStorage: HandlerOf<'readStorage'> = async ({ ctx }) => {
  const { db, blobs, config } = ctx
  const [bytes, tables, artifactBytes, disk] = await Promise.all([
    measureDatabase(db),
    tablesOf(db),
    sumStoredBytes(db),
    blobs.disk(),
  ])
  const { store } = config.blobs
  const sizes = { free_bytes: disk?.freeBytes ?? null, disk_bytes: disk?.totalBytes ?? null }
  return { status: 200, data: { database: { bytes, tables }, blobs: { store, artifact_bytes: artifactBytes, ...sizes } } }
}

async function tablesOf(db: Db): Promise<TableSize[]> {
  const [tables, { citus }] = await Promise.all([measureTables(db), findDatabaseVersions(db)])
  if (citus === null) return tables
  const spread = new Map((await measureSpreadTables(db)).map(({ name, bytes }) => [name, bytes]))
  const all = tables.map((table) => {
    const bytes = spread.get(table.name)
    // The coordinator has no estimate of the rows of shards.
    return bytes === undefined ? table : { name: table.name, bytes, rows: null }
  })
  return all.toSorted((a, b) => b.bytes - a.bytes)
}

export const storageHandlers = { readStorage } satisfies Partial<Handlers>
