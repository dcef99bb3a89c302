import { createHash } from 'node:crypto'
import { backupTables } from '../../packages/server/src/features/backup/backup-tables.ts'
import { queryDatabase } from './query-database.ts'

export interface TableDigest {
  rows: number
  sha256: string
}

/** How many rows each table has that a backup contains, and a hash of all of them in no order. */
export async function digestTables(url: string): Promise<Record<string, TableDigest>> {
  const digests: Record<string, TableDigest> = {}
  for (const table of Object.keys(backupTables).filter((name) => backupTables[name] === 'restored')) {
    const rows = await queryDatabase(url, `select * from ${table}`)
    // A restore writes to the open slot.
    const texts = rows.map((row) => JSON.stringify({ ...row, slot: undefined })).toSorted()
    const hash = createHash('sha256')
    for (const text of texts) hash.update(text).update('\n')
    digests[table] = { rows: rows.length, sha256: hash.digest('hex') }
  }
  return digests
}
