// Behind `npm test`: one throwaway PostgreSQL with a migrated template database, then node's test runner over the
// files or globs given.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Client, Pool } from 'pg'
import { migrate } from '../packages/server/src/db/migrate.ts'
import { urlOfDatabase } from '../packages/server/testing/test-database.ts'
import { startThrowawayPostgres } from '../packages/server/testing/throwaway-postgres.ts'

const template = 'atrium_template'
/**
 * Hundreds of processes load the same modules: stripped of their types and compiled once, each starts twice as fast.
 */
const compileCache = fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url))
// tests/long takes many minutes: `npm run test:long`.
const everything = ['packages/**/*.test.ts', 'tests/*.test.ts', 'tests/inside/*.test.ts']

async function makeTemplate(serverUrl: string): Promise<void> {
  const admin = new Client({ connectionString: serverUrl })
  await admin.connect()
  await admin.query(`create database ${template}`)
  const pool = new Pool({ connectionString: urlOfDatabase(serverUrl, template) })
  await migrate(pool)
  await pool.end()
  // A connection to the template would make every clone of it fail.
  await admin.query(`alter database ${template} with is_template true allow_connections false`)
  await admin.end()
}

/** Its closing lines must stay the last that is printed: CI reads them. */
async function runTests(serverUrl: string, stopped: AbortSignal): Promise<number> {
  const given = process.argv.slice(2)
  const options = ['--test', '--test-concurrency=2', '--test-timeout=300000']
  const runner = spawn(process.execPath, [...options, ...(given.length > 0 ? given : everything)], {
    stdio: 'inherit',
    env: {
      ...process.env,
      ATRIUM_TEST_DATABASE_URL: serverUrl,
      ATRIUM_TEST_TEMPLATE: template,
      NODE_COMPILE_CACHE: compileCache,
    },
  })
  stopped.addEventListener('abort', () => runner.kill('SIGTERM'))
  return new Promise((resolve, reject) => {
    runner.once('error', reject)
    runner.once('exit', (code) => resolve(code ?? 1))
  })
}

const stop = new AbortController()
// Ctrl-C reaches the runner too, which then ends; we only have to outlive it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort())

const server = await startThrowawayPostgres({ max_connections: 400 })
try {
  await makeTemplate(server.connectionString)
  process.exitCode = stop.signal.aborted ? 1 : await runTests(server.connectionString, stop.signal)
} finally {
  await server.stop()
}
