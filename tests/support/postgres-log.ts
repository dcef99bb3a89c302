import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { queryDatabase } from './query-database.ts'

/** The log of PostgreSQL. The PostgreSQL of the tests logs like the embedded one. */
export async function postgresLog(databaseUrl: string): Promise<string> {
  const [row] = await queryDatabase<{ data_directory: string }>(databaseUrl, 'show data_directory')
  return readFile(join(dirname(row!.data_directory), 'postgres.log'), 'utf8')
}
