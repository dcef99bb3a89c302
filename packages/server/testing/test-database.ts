import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'

export type TestDatabase = { url: string; drop(): Promise<void> }

/**
 * A database for one test file. By default it is a clone of the migrated template that scripts/test.ts made;
 * template0 is an empty one.
 */
export async function createTestDatabase({ template = migratedTemplate() } = {}): Promise<TestDatabase> {
  await passMidnight()
  // Random, because test files run in separate processes.
  const name = `test_${randomBytes(8).toString('hex')}`
  const citusUrl = process.env['ATRIUM_TEST_CITUS_URL']
  if (citusUrl && template === migratedTemplate()) return cloneOnEachNode(citusUrl, name)
  const adminUrl = serverUrl()
  // Copying files requires a checkpoint, which costs nothing without fsync. It takes a tenth of the time of copying
  // through the log.
  await runOn(adminUrl, `create database ${name} template ${template} strategy file_copy`)
  return {
    url: urlOfDatabase(adminUrl, name),
    drop: () => dropDatabase(adminUrl, name),
  }
}

/** Limits and usage are counted for each day in UTC. So no test file begins shortly before midnight. */
async function passMidnight(): Promise<void> {
  const leftMs = 86_400_000 - (Date.now() % 86_400_000)
  if (leftMs < 20_000) await delay(leftMs)
}

/** A clone of the database that scripts/test.ts spread over a Citus cluster: of its part on each of the three nodes. */
async function cloneOnEachNode(citusUrl: string, name: string): Promise<TestDatabase> {
  const template = new URL(citusUrl).pathname.slice(1)
  const nodes = nodesOf(citusUrl)
  for (const node of nodes) await runOn(node, `create database ${name} template ${template} strategy file_copy`)
  return {
    url: urlOfDatabase(citusUrl, name),
    drop: async () => {
      for (const node of nodes) await dropDatabase(node, name)
    },
  }
}

function nodesOf(citusUrl: string): string[] {
  return [0, 1, 2].map((n) => {
    const url = new URL(urlOfDatabase(citusUrl, 'postgres'))
    url.port = String(Number(url.port) + n)
    return url.href
  })
}

/** Nobody may use a database while it is cloned: not even the maintenance of Citus, which comes back. */
export async function closeOnEachNode(citusUrl: string): Promise<void> {
  const name = new URL(citusUrl).pathname.slice(1)
  for (const node of nodesOf(citusUrl)) {
    await runOn(
      node,
      `alter database ${name} with allow_connections false`,
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
    )
  }
}

export function urlOfDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}

function serverUrl(): string {
  const url = process.env['ATRIUM_TEST_DATABASE_URL']
  if (!url)
    throw new Error(
      'ATRIUM_TEST_DATABASE_URL is not set: run this file with `npm test -- <file>`, which starts a PostgreSQL for it',
    )
  return url
}

function migratedTemplate(): string {
  return process.env['ATRIUM_TEST_TEMPLATE'] ?? 'atrium_template'
}

/** Writes many rows, without the time limits of the API's connections, which this may exceed on a busy machine. */
export async function fill(url: string, sql: string, values: unknown[] = []): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql, values)
  } finally {
    await client.end()
  }
}

/**
 * pool.end() resolves before the server has closed the sessions. If they were terminated in that moment, an idle
 * client would throw an error that nobody handles. So they get a second to end.
 */
async function dropDatabase(adminUrl: string, name: string): Promise<void> {
  await runOn(
    adminUrl,
    `do $$ begin
       for attempt in 1 .. 200 loop
         exit when not exists (select from pg_stat_activity where datname = '${name}');
         perform pg_sleep(0.005), pg_stat_clear_snapshot();
       end loop;
     end $$`,
    `drop database if exists ${name} with (force)`,
  )
}

async function runOn(url: string, ...statements: string[]): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    for (const sql of statements) await client.query(sql)
  } finally {
    await client.end()
  }
}
