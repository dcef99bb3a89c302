import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { makeTimedId } from '../../packages/contract/src/tokens.ts'
import { openDatabase } from '../../packages/server/src/db/database.ts'
import { turnSlots } from '../../packages/server/src/features/partitions/turn-slots.ts'
import { toChunk } from '../../packages/server/src/features/request-log/chunk.ts'
import { insertChunks } from '../../packages/server/src/features/request-log/store.ts'
import type { Tx } from '../../packages/server/src/db/database.ts'
import { startAtrium, type AtriumProcess } from '../support/atrium-process.ts'
import { askGood, call as ask, makeTenant, type TestTenant } from '../support/call-api.ts'
import { skipWithoutCitus, startCitusCluster, type CitusCluster } from '../support/citus-cluster.ts'
import { assertOneShard, listRemoteCommands } from '../support/citus-plans.ts'
import { listLogStatements } from '../support/log-statements.ts'
import { queryDatabase } from '../support/query-database.ts'
import { runAtrium } from '../support/run-atrium.ts'

interface Entry {
  request_id: string
  status: number
}

const readLog = (url: string) =>
  Promise.all([
    queryDatabase(url, 'select * from request_log order by tenant_id, request_id'),
    queryDatabase(url, 'select *, entries::text from request_log_chunks order by tenant_id, id'),
  ])

describe('the request log on a Citus cluster', { skip: skipWithoutCitus, timeout: 240_000 }, () => {
  /** They are on both workers. */
  const tenants: TestTenant[] = []
  let cluster: CitusCluster
  let server: AtriumProcess
  let db: pg.Pool
  let distributed: string
  let stored: unknown
  let spread: unknown
  const folder = mkdtemp(join(tmpdir(), 'atrium-citus-log-'))

  before(async () => {
    cluster = await startCitusCluster()
    const env = { ATRIUM_DATA_DIR: await folder, ATRIUM_RATE_LIMIT: '50' }
    const start = () => startAtrium({ databaseUrl: cluster.url, env })
    server = await start()
    for (let n = 0; n < 16; n++) tenants.push(await makeTenant(server.origin))
    for (const tenant of tenants) await askTwice(tenant)
    await server.end()
    db = new pg.Pool({ connectionString: cluster.url, max: 2, application_name: 'atrium' })
    // A worker that is killed ends the idle connections to it.
    db.on('error', () => undefined)
    // As the release before 0120 wrote it.
    await db.query(
      `insert into request_log (tenant_id, request_id, created_at, method, path, status, key_id, duration_ms)
       values ($1, $2, now() - interval '1 minute', 'GET', '/tenant', 200, 'key_x', 1)`,
      [tenants[0]!.id, newRequestId()],
    )
    stored = await readLog(cluster.url)
    await db.end()
    const run = runAtrium(['distribute'], { ...env, DATABASE_URL: cluster.url })
    const code = await run.ended(60_000)
    distributed = run.output()
    assert.equal(code, 0, distributed)
    spread = await readLog(cluster.url)
    db = new pg.Pool({ connectionString: cluster.url, max: 2, application_name: 'a script' })
    db.on('error', () => undefined)
    server = await start()
  })

  after(async () => {
    await server?.end('SIGKILL')
    await db?.end()
    await cluster?.stop()
    await rm(await folder, { recursive: true, force: true })
  })

  const newRequestId = () => makeTimedId('request', Date.now(), randomBytes)

  /** A request that succeeds and one that is refused. */
  async function askTwice({ secret: key }: TestTenant): Promise<void> {
    await askGood(server.origin, 'GET /v1/tenant', { key })
    assert.equal((await ask(server.origin, 'GET /v1/collections/col_unknown', { key })).status, 404)
  }
  async function entriesOf({ secret: key }: TestTenant, query = ''): Promise<Entry[]> {
    const { text } = await askGood(server.origin, `GET /v1/tenant/requests?limit=100${query}`, { key })
    return (JSON.parse(text) as { data: Entry[] }).data
  }
  async function until(isSo: () => Promise<boolean>, what: string, withinMs = 15_000): Promise<void> {
    for (const deadline = Date.now() + withinMs; !(await isSo()); await delay(50)) assert.ok(Date.now() < deadline, what)
  }
  async function listOnFirstWorker(): Promise<Set<string>> {
    const { rows } = await db.query<{ id: string }>(
      `select t.id from tenants t
         join pg_dist_shard_placement p on p.shardid = get_shard_id_for_distribution_column('request_log_chunks', t.id)
        where p.nodeport = $1`,
      [Number(new URL(cluster.url).port) + 1],
    )
    return new Set(rows.map(({ id }) => id))
  }

  test('a database with logged requests is moved, and each entry is what it was', async () => {
    assert.match(distributed, /^request_log: 1 rows, spread by tenant_id over 16 shards$/m)
    assert.match(distributed, /^request_log_chunks: \d+ rows, spread by tenant_id over 16 shards$/m)
    assert.deepEqual(spread, stored)
    assert.equal((await entriesOf(tenants[0]!)).filter(({ status }) => status === 404).length, 1)
  })

  test('requests of tenants of all shards at once are logged, found by their id and counted', async () => {
    const before = await Promise.all(tenants.map((tenant) => entriesOf(tenant)))
    await Promise.all(tenants.map(askTwice))
    for (const [i, tenant] of tenants.entries()) {
      const now = await entriesOf(tenant)
      // The two, and the list before.
      assert.equal(now.length, before[i]!.length + 3)
      const [refused] = await entriesOf(tenant, '&status=404')
      assert.ok(refused)
      assert.deepEqual(await entriesOf(tenant, `&request_id=${refused.request_id}`), [refused])
      const { data } = await askGood(server.origin, 'GET /v1/tenant/requests/summary', { key: tenant.secret })
      const { buckets } = data as unknown as { buckets: { refused: number }[] }
      assert.equal(
        buckets.reduce((sum, bucket) => sum + bucket.refused, 0),
        2,
      )
    }
  })

  test('each statement about the logged requests of a tenant goes to one shard', async () => {
    const statements = await listLogStatements(tenants[0]!.id)
    assert.ok(statements.length >= 10, `${statements.length}`)
    for (const one of statements) await assertOneShard(db, one)
  })

  test('entries are written to the node of their tenant alone, and again without effect', async () => {
    const onFirst = await listOnFirstWorker()
    const tenantId = tenants.find(({ id }) => onFirst.has(id))!.id
    const request = { at: Date.now(), method: 'GET', path: '/tenant', status: 200, code: null, keyId: 'key_x', durationMs: 1 }
    const chunks = [toChunk([{ ...request, tenantId, requestId: newRequestId(), origin: null }])]
    const sent: [string, unknown[]][] = []
    const recorder = {
      query: ({ text }: { text: string }, values: unknown[]) => {
        sent.push([text, values])
        return Promise.resolve([])
      },
    } as unknown as Tx
    for (let n = 0; n < 2; n++) await insertChunks(recorder, chunks)
    const { rows: shards } = await db.query(`select get_shard_id_for_distribution_column('request_log_chunks', $1::text) as id`, [
      tenantId,
    ])
    const written = (await listRemoteCommands(db, sent)).filter((command) => /insert into|copy /i.test(command))
    assert.ok(written.length > 0)
    for (const command of written) assert.match(command, new RegExp(`_${shards[0].id}\\b`), command)
    const { rows } = await db.query('select from request_log_chunks where tenant_id = $1 and id = $2', [tenantId, chunks[0]!.id])
    assert.equal(rows.length, 1)
  })

  test('slots turn, and one of old entries is emptied on all nodes', async () => {
    const database = openDatabase({ url: cluster.url, maxConnections: 1, onConnectionError: () => undefined })
    const readSlots = async () => {
      const { rows } = await db.query('select slot, count(*)::int as chunks from request_log_chunks group by slot order by slot')
      return rows
    }
    const age = (days: number) =>
      db.query(
        `update partition_slots set opened_at = opened_at - make_interval(days => $1), closed_at = closed_at - make_interval(days => $1)
          where name like 'request_log%'`,
        [days],
      )
    try {
      // As after a restore.
      await db.query("delete from partition_slots where name like 'request_log%'")
      const days = { events: 30, requests: 7 }
      await turnSlots(database, days)
      const [first] = await readSlots()
      assert.equal(first.slot, 0)
      await age(3)
      await turnSlots(database, days)
      const tenant = tenants[1]!
      await entriesOf(tenant)
      await until(async () => (await readSlots()).length === 2, 'new entries are in the next slot')
      await age(8)
      await turnSlots(database, days)
      assert.ok((await readSlots()).every(({ slot }) => slot !== 0))
      assert.ok((await entriesOf(tenant)).length > 0)
    } finally {
      await database.close()
    }
  })

  test('while a worker is down, the requests of its tenants wait, and those of all others are logged', async () => {
    const onFirst = await listOnFirstWorker()
    const [lost, kept] = [tenants.filter(({ id }) => onFirst.has(id)), tenants.filter(({ id }) => !onFirst.has(id))]
    assert.ok(lost.length > 0 && kept.length > 0)
    const before = new Map<TestTenant, number>()
    for (const tenant of tenants) before.set(tenant, (await entriesOf(tenant, '&status=404')).length)
    await cluster.killWorker(1)
    try {
      await Promise.all(tenants.map(askTwice))
      for (const tenant of kept) assert.equal((await entriesOf(tenant, '&status=404')).length, before.get(tenant)! + 1)
      for (const { secret: key } of lost) assert.equal((await ask(server.origin, 'GET /v1/tenant/requests', { key })).status, 503)
    } finally {
      await cluster.startWorker(1)
    }
    for (const tenant of lost) {
      const { secret: key } = tenant
      await until(async () => (await ask(server.origin, 'GET /v1/tenant/requests', { key })).status === 200, 'it answers')
      await until(
        async () => (await entriesOf(tenant, '&status=404')).length === before.get(tenant)! + 1,
        'what waited is there, once',
      )
    }
  })

  test('a deleted tenant leaves no entry', async () => {
    const { id } = tenants[4]!
    const { status } = await ask(server.origin, `POST /v1/tenants/${id}/deletion`, { operator: true, body: { after_days: 0 } })
    assert.ok(status < 300, `${status}`)
    await until(
      async () => {
        const { rows } = await db.query('select from request_log_chunks where tenant_id = $1', [id])
        return rows.length === 0
      },
      'its entries are gone',
      60_000,
    )
  })
})
