// Writes migrations/schema.sql: what the migrations make. With --check it only compares, and exits 1 when the file is
// out of date.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { Pool } from 'pg'
import { dumpSchema } from '../packages/server/src/db/dump-schema.ts'
import { latestMigration, migrate } from '../packages/server/src/db/migrate.ts'
import { migrationsFolder } from '../packages/server/src/db/migration-files.ts'
import { createTestDatabase } from '../packages/server/testing/test-database.ts'
import { startThrowawayPostgres } from '../packages/server/testing/throwaway-postgres.ts'

const file = path.join(migrationsFolder, 'schema.sql')
const header =
  '-- What the migrations make, written by scripts/schema-dump.ts. Not edited by hand: change it with a new migration.\n\n'

async function dumpMigrated(url: string): Promise<string> {
  const pool = new Pool({ connectionString: url })
  try {
    await migrate(pool)
    return header + (await dumpSchema(pool))
  } finally {
    await pool.end()
  }
}

async function dumpOnTestServer(): Promise<string> {
  const database = await createTestDatabase({ template: 'template0' })
  try {
    return await dumpMigrated(database.url)
  } finally {
    await database.drop()
  }
}

async function dumpOnThrowaway(): Promise<string> {
  const server = await startThrowawayPostgres()
  try {
    return await dumpMigrated(server.connectionString)
  } finally {
    await server.stop()
  }
}

function check(schema: string): void {
  if (existsSync(file) && readFileSync(file, 'utf8') === schema) return
  console.error('migrations/schema.sql is not what the migrations make: run `node scripts/schema-dump.ts` and commit the file')
  process.exitCode = 1
}

if (await latestMigration()) {
  const schema = await (process.env['ATRIUM_TEST_DATABASE_URL'] ? dumpOnTestServer() : dumpOnThrowaway())
  if (process.argv.includes('--check')) check(schema)
  else writeFileSync(file, schema)
} else {
  console.error('There are no migrations yet: nothing to dump')
}
