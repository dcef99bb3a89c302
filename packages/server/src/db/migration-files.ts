import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { StartError } from '#errors/start-error.ts'

export type MigrationFile = { name: string; sql: string; checksum: string }

export const migrationsFolder = path.resolve(import.meta.dirname, '../../../../migrations')

/** The files NNNN-name.sql in order, with unique numbers. schema.sql, the dump of the resulting schema, is excluded. */
export async function readMigrationFiles(folder: string): Promise<MigrationFile[]> {
  const names = (await readdir(folder)).filter((file) => file.endsWith('.sql') && file !== 'schema.sql').toSorted()
  assertNumbered(names)
  return Promise.all(
    names.map(async (file) => {
      const sql = await readFile(path.join(folder, file), 'utf8')
      return { name: path.basename(file, '.sql'), sql, checksum: createHash('sha256').update(sql).digest('hex') }
    }),
  )
}

/** Two branches may take the same number; then the order would depend on the names. */
function assertNumbered(names: string[]): void {
  let previous: string | undefined
  for (const name of names) {
    if (!/^\d{4}-[a-z0-9-]+\.sql$/.test(name)) throw new StartError(`Migration ${name} is not named NNNN-name.sql: rename it`)
    if (previous?.slice(0, 4) === name.slice(0, 4)) {
      throw new StartError(`Migrations ${previous} and ${name} have the same number: give the later one the next number`)
    }
    previous = name
  }
}
