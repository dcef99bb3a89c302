// `npm test`: starts one throwaway PostgreSQL with a migrated template database, then runs node's test runner over
// the given files or globs. `--browser` runs all tests of pages in a browser, `--citus` all tests of Citus. Without an
// argument, it runs all other tests but those in tests/faults, tests/long and tests/image.
import { spawn } from 'node:child_process'
import type { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { fileURLToPath } from 'node:url'
import { Client, Pool } from 'pg'
import { migrate } from '../packages/server/src/db/migrate.ts'
import { distribute } from '../packages/server/src/features/distribution/distribute.ts'
import { skipWithoutPgBouncer, startPgBouncer, type PgBouncer } from '../packages/traffic/src/postgres/testing/start-pgbouncer.ts'
import { closeOnEachNode, urlOfDatabase } from '../packages/server/testing/test-database.ts'
import { startThrowawayPostgres } from '../packages/server/testing/throwaway-postgres.ts'
import { skipWithoutCitus, startCitusCluster, type CitusCluster } from '../tests/support/citus-cluster.ts'
import { suites, type Suite } from './ordered-tests.ts'

const template = 'atrium_template'
/**
 * Hundreds of processes load the same modules. If they are stripped of types and compiled once, each process starts
 * twice as fast.
 */
const compileCache = fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url))
const testTimeoutMs = 300_000

async function makeTemplate(serverUrl: string): Promise<void> {
  const admin = new Client({ connectionString: serverUrl })
  await admin.connect()
  await admin.query(`create database ${template}`)
  const pool = new Pool({ connectionString: urlOfDatabase(serverUrl, template) })
  await migrate(pool)
  await pool.end()
  // A connection to the template would make every cloning fail.
  await admin.query(`alter database ${template} with is_template true allow_connections false`)
  await admin.end()
}

/** Its closing lines must be printed last, because CI reads them. */
async function runGiven(given: string[], env: NodeJS.ProcessEnv, stopped: AbortSignal): Promise<number> {
  // Many files wait for most of their time. A third one beside two keeps two cores busy.
  const options = ['--test', '--test-concurrency=3', `--test-timeout=${testTimeoutMs}`]
  const runner = spawn(process.execPath, [...options, ...given], { stdio: 'inherit', env })
  stopped.addEventListener('abort', () => runner.kill('SIGTERM'))
  return new Promise((resolve, reject) => {
    runner.once('error', reject)
    runner.once('exit', (code) => resolve(code ?? 1))
  })
}

/** Does as `node --test`, but in the order of the files: the command sorts them by name. */
async function runSuite({ files, concurrency }: Suite, env: NodeJS.ProcessEnv, stopped: AbortSignal): Promise<number> {
  const events = run({ files, concurrency, timeout: testTimeoutMs, env, signal: stopped })
  let failed = false
  events.on('test:summary', ({ success }) => (failed ||= !success))
  await pipeline(events.compose<Transform>(new spec()), process.stdout, { end: false })
  return failed || stopped.aborted ? 1 : 0
}

/** ATRIUM_TEST_POOLER=1: the server's processes reach their database through a PgBouncer in transaction mode. */
async function openPooler(serverUrl: string): Promise<PgBouncer | undefined> {
  if (process.env['ATRIUM_TEST_POOLER'] !== '1') return undefined
  if (skipWithoutPgBouncer) throw new Error(`ATRIUM_TEST_POOLER=1 ${skipWithoutPgBouncer}`)
  return startPgBouncer({ serverUrl, settings: 'pool_mode = transaction\nmax_client_conn = 2000\nserver_login_retry = 1' })
}

/**
 * ATRIUM_TEST_CITUS=1: test files get databases that are spread over the nodes of a Citus cluster, instead of clones of
 * the template.
 */
async function openCitus(): Promise<CitusCluster | undefined> {
  if (process.env['ATRIUM_TEST_CITUS'] !== '1') return undefined
  if (skipWithoutCitus !== false) throw new Error(`ATRIUM_TEST_CITUS=1: ${skipWithoutCitus}`)
  const cluster = await startCitusCluster()
  const pool = new Pool({ connectionString: cluster.url })
  try {
    await migrate(pool)
  } finally {
    await pool.end()
  }
  const client = new Client({ connectionString: cluster.url })
  await client.connect()
  try {
    await distribute(client, () => undefined)
  } finally {
    await client.end()
  }
  await closeOnEachNode(cluster.url)
  return cluster
}

interface Servers {
  serverUrl: string
  poolerUrl: string | undefined
  citusUrl: string | undefined
}

function runTests({ serverUrl, poolerUrl, citusUrl }: Servers, stopped: AbortSignal): Promise<number> {
  const env = {
    ...process.env,
    ...(citusUrl === undefined ? {} : { ATRIUM_TEST_CITUS_URL: citusUrl }),
    ...(poolerUrl === undefined ? {} : { ATRIUM_TEST_POOLER_URL: poolerUrl }),
    ATRIUM_TEST_DATABASE_URL: serverUrl,
    ATRIUM_TEST_TEMPLATE: template,
    NODE_COMPILE_CACHE: compileCache,
  }
  const given = process.argv.slice(2)
  const [suite = '--everything'] = given
  return suite in suites ? runSuite(suites[suite as keyof typeof suites](), env, stopped) : runGiven(given, env, stopped)
}

const stop = new AbortController()
// Ctrl-C also reaches the runner, which then ends. This process only has to outlive it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort())

const server = await startThrowawayPostgres({ max_connections: 400 })
let pooler: PgBouncer | undefined
let citus: CitusCluster | undefined
try {
  await makeTemplate(server.connectionString)
  pooler = await openPooler(server.connectionString)
  citus = await openCitus()
  const servers = { serverUrl: server.connectionString, poolerUrl: pooler?.urlOf('postgres'), citusUrl: citus?.url }
  process.exitCode = stop.signal.aborted ? 1 : await runTests(servers, stop.signal)
} finally {
  await citus?.stop()
  await pooler?.stop()
  await server.stop()
}
