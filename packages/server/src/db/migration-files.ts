import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { StartError } from '#errors/start-error.ts'

export type MigrationFile = {
  name: string
  sql: string
  checksum: string
  /** Its statements build or drop indexes concurrently, so each runs by itself, outside a transaction. */
  concurrently: boolean
  /** The number of a migration, such as 0038. Code without that migration can no longer use the database. */
  contractOf: string | undefined
}

export const migrationsFolder = path.resolve(import.meta.dirname, '../../../../migrations')

/** The files NNNN-name.sql in order, with unique numbers. schema.sql, the dump of the resulting schema, is excluded. */
export async function readMigrationFiles(folder: string): Promise<MigrationFile[]> {
  const names = (await readdir(folder)).filter((file) => file.endsWith('.sql') && file !== 'schema.sql').toSorted()
  assertNumbered(names)
  return Promise.all(
    names.map(async (file) => {
      const sql = await readFile(path.join(folder, file), 'utf8')
      const checksum = createHash('sha256').update(sql).digest('hex')
      return { name: path.basename(file, '.sql'), sql, checksum, ...readHeader(file, sql) }
    }),
  )
}

/** The lines of comments before the first statement. */
function readHeader(file: string, sql: string): Pick<MigrationFile, 'concurrently' | 'contractOf'> {
  const lines = sql.split('\n')
  const end = lines.findIndex((line) => !line.startsWith('--'))
  const header = end === -1 ? lines : lines.slice(0, end)
  const contract = header.find((line) => line.startsWith('-- contract'))
  const contractOf = contract === undefined ? undefined : /^-- contract: (\d{4})$/.exec(contract)?.[1]
  if (contract !== undefined && contractOf === undefined)
    throw new StartError(`Migration ${file}: "${contract}" must be "-- contract: NNNN", the number of an earlier migration`)
  if (contractOf !== undefined && contractOf >= file.slice(0, 4))
    throw new StartError(`Migration ${file}: "${contract}" must name an earlier migration`)
  return { concurrently: header.includes('-- concurrently'), contractOf }
}

/** Two branches may use the same number; then the order would depend on the names. */
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
