// Writes migrations/schema.sql: the schema that the migrations create. With --check it only compares, and exits with
// 1 if the file is out of date. In both cases it refuses migrations that could not run while the previous release
// serves.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { Pool } from 'pg'
import { dumpSchema } from '../packages/server/src/db/dump-schema.ts'
import { latestMigration, migrate } from '../packages/server/src/db/migrate.ts'
import { migrationsFolder, readMigrationFiles } from '../packages/server/src/db/migration-files.ts'
import { findUnsafeStatements } from '../packages/server/src/db/migration-rules.ts'
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

const unsafe = (await readMigrationFiles(migrationsFolder)).flatMap(findUnsafeStatements)
if (unsafe.length > 0) {
  console.error([...unsafe, 'CONTRIBUTING.md, "Migrations", says what a migration may do in which release.'].join('\n'))
  process.exitCode = 1
} else if (await latestMigration()) {
  const schema = await (process.env['ATRIUM_TEST_DATABASE_URL'] ? dumpOnTestServer() : dumpOnThrowaway())
  if (process.argv.includes('--check')) check(schema)
  else writeFileSync(file, schema)
} else {
  console.error('There are no migrations yet: nothing to dump')
}
