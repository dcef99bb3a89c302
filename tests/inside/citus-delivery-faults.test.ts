import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { openDatabase } from '../../packages/server/src/db/database.ts'
import { readTenantShards } from '../../packages/server/src/features/distribution/shards-store.ts'
import { medianOf } from '../../packages/server/testing/busy-machine.ts'
import { startHookServer, type Hook, type HookServer } from '../../packages/server/testing/hook-server.ts'
import { startAtrium, type AtriumProcess } from '../support/atrium-process.ts'
import { askGood, makeCollection, makeTenant, type TestCollection, type TestTenant } from '../support/call-api.ts'
import { skipWithoutCitus, startCitusCluster, type CitusCluster } from '../support/citus-cluster.ts'
import { mapConcurrently } from '../support/map-concurrently.ts'
import { startPacedLoad } from '../support/paced-load.ts'
import { runAtrium } from '../support/run-atrium.ts'

interface Wall extends TestCollection {
  tenant: TestTenant
  shard: number
  port: number
}

describe('webhook deliveries of a Citus cluster with a fault', { skip: skipWithoutCitus, timeout: 240_000 }, () => {
  /** Of a tenant each: some share a shard, and they are on both workers. */
  const walls: Wall[] = []
  let cluster: CitusCluster
  let server: AtriumProcess
  let hooks: HookServer
  let db: pg.Pool
  const folder = mkdtemp(join(tmpdir(), 'atrium-citus-faults-'))

  before(async () => {
    cluster = await startCitusCluster()
    hooks = await startHookServer()
    const env = { ATRIUM_DATA_DIR: await folder, ATRIUM_RATE_LIMIT: '50', ATRIUM_EGRESS: 'loopback' }
    for (const command of ['migrate', 'distribute']) {
      const run = runAtrium([command], { ...env, DATABASE_URL: cluster.url })
      assert.equal(await run.ended(60_000), 0, run.output())
    }
    server = await startAtrium({ databaseUrl: cluster.url, env })
    db = new pg.Pool({ connectionString: cluster.url, max: 4, application_name: 'a script' })
    // A worker that is killed ends the idle connections to it.
    db.on('error', () => undefined)
    // One more than shards.
    const makeWall = async () => {
      const tenant = await makeTenant(server.origin)
      const collection = await makeCollection(server.origin, tenant.publishable)
      await askGood(server.origin, 'PUT /v1/tenant/webhooks', { key: tenant.secret, body: { url: hooks.url } })
      const { rows } = await db.query<{ shard: string; port: number }>(
        `select p.shardid as shard, p.nodeport as port from pg_dist_shard_placement p
          where p.shardid = get_shard_id_for_distribution_column('events', $1::text)`,
        [tenant.id],
      )
      walls.push({ tenant, ...collection, shard: Number(rows[0]!.shard), port: rows[0]!.port })
    }
    await mapConcurrently(Array.from({ length: 17 }), 4, makeWall)
    await causeEach(walls)
    await until(() => walls.every((wall) => arrivedOf(wall).length > 0), 'all endpoints get their events')
    await untilWritten()
  })

  after(async () => {
    await server?.end('SIGKILL')
    await db?.end()
    await hooks?.close()
    await cluster?.stop()
    await rm(await folder, { recursive: true, force: true })
  })

  let titles = 0
  /** Causes an event, which is written on the coordinator. */
  const cause = ({ id, token, tenant }: Wall) =>
    askGood(server.origin, `PATCH /v1/collections/${id}`, {
      key: tenant.publishable,
      token,
      body: { metadata: { share_title: `title ${++titles}` } },
    })
  const causeEach = (some: Wall[]) => Promise.all(some.map(cause))
  const arrivedOf = ({ tenant }: Wall) => hooks.hooks.filter(({ event }) => event.tenant_id === tenant.id)
  /** How many deliveries arrived more than once. */
  const countRepeated = (some: Wall[]) => {
    const ids = some.flatMap(arrivedOf).map(({ event }) => event.id)
    return ids.length - new Set(ids).size
  }
  async function until(isSo: () => boolean | Promise<boolean>, what: string, withinMs = 20_000): Promise<void> {
    for (const deadline = Date.now() + withinMs; !(await isSo()); await delay(50)) assert.ok(Date.now() < deadline, what)
  }
  async function listUnwritten(some: Wall[]): Promise<{ status: string; attempts: number }[]> {
    const { rows } = await db.query<{ status: string; attempts: number }>(
      `select d.tenant_id, d.sequence, d.status, d.attempts from webhook_deliveries d
        where d.tenant_id = any ($1) and (d.status <> 'succeeded' or d.attempts <> 1)`,
      [some.map(({ tenant }) => tenant.id)],
    )
    return rows
  }
  const untilWritten = (some = walls, withinMs = 20_000) =>
    until(async () => (await listUnwritten(some)).length === 0, 'each outcome is written, once', withinMs)
  /** Holds the answers to these tenants from now on; `answer` ends that. */
  function holdAnswers(t: TestContext, some: Wall[]): { held: Hook[]; answer: () => void } {
    const ids = new Set(some.map(({ tenant }) => tenant.id))
    const held: Hook[] = []
    const waiting: ServerResponse[] = []
    hooks.reply = (hook, res) => {
      if (!ids.has(hook.event.tenant_id)) return void res.writeHead(204).end()
      held.push(hook)
      waiting.push(res)
    }
    const answer = () => {
      hooks.reply = 204
      for (const res of waiting.splice(0)) res.writeHead(204).end()
    }
    t.after(answer)
    return { held, answer }
  }
  /** The coordinator cannot cancel a statement that waits for a frozen node. */
  async function countHanging(): Promise<number> {
    const { rows } = await db.query<{ count: number }>(
      `select count(*)::int from pg_stat_activity where state = 'active' and now() - query_start > interval '1 second'`,
    )
    return rows[0]!.count
  }
  const onWorker = (number: 1 | 2) => {
    const port = Number(new URL(cluster.url).port) + number
    return [walls.filter((wall) => wall.port === port), walls.filter((wall) => wall.port !== port)] as const
  }

  test('a process knows which shards are on the same node', async () => {
    const database = openDatabase({ url: cluster.url, maxConnections: 1, onConnectionError: () => undefined })
    const shards = await readTenantShards(database).finally(() => database.close())
    const ports = walls.map(({ port, tenant }) => `${port} ${shards.nodeOf(shards.shardOf(tenant.id))}`)
    assert.deepEqual([new Set(ports).size, new Set(walls.map(({ port }) => port)).size], [2, 2])
  })

  test('while the deliveries of a tenant are locked for 10 s, those of its shard are written, and none is sent twice', async (t) => {
    const [locked, neighbour] = pairOf(walls)
    const { held, answer } = holdAnswers(t, [locked])
    hooks.hooks.length = 0
    await cause(locked)
    await until(() => held.length === 1, 'it arrives')
    const locking = await db.connect()
    try {
      await locking.query('begin')
      await locking.query('select from webhook_deliveries where tenant_id = $1 for update', [locked.tenant.id])
      answer()
      const tookMs: number[] = []
      for (let n = 1; n <= 10; n++) {
        await cause(neighbour)
        const startedAt = Date.now()
        await until(() => arrivedOf(neighbour).length === n, 'the neighbour gets its event')
        await untilWritten([neighbour])
        tookMs.push(Date.now() - startedAt)
        await delay(Math.max(0, startedAt + 1_000 - Date.now()))
      }
      // One that waits with the locked one waits for 2.5 s and more, each time. A busy machine delays some.
      assert.ok(medianOf(tookMs) < 2_000, tookMs.join())
    } finally {
      await locking.query('rollback')
      locking.release()
    }
    await untilWritten()
    assert.deepEqual([arrivedOf(locked).length, countRepeated(walls)], [1, 0])
  })

  test('while statements on the deliveries of a tenant time out, those of its shard are written', async (t) => {
    const [slow, neighbour] = pairOf(walls)
    const worker = new pg.Client({ connectionString: cluster.url.replace(/:\d+\//, `:${slow.port}/`) })
    await worker.connect()
    t.after(() => worker.end())
    const { rows } = await db.query<{ table: string }>(
      `select 'webhook_deliveries_' || get_shard_id_for_distribution_column('webhook_deliveries', $1::text) as table`,
      [slow.tenant.id],
    )
    const table = rows[0]!.table
    await worker.query(`set citus.enable_manual_changes_to_shards = on; set citus.enable_ddl_propagation = off;
      create function sleeps() returns trigger language plpgsql as 'begin perform pg_sleep(30); return new; end';
      create trigger slow before update on ${table} for each row when (new.tenant_id = '${slow.tenant.id}')
      execute function sleeps()`)
    hooks.hooks.length = 0
    const laterMs: number[] = []
    try {
      await cause(slow)
      await until(() => arrivedOf(slow).length === 1, 'it arrives')
      for (let n = 1; n <= 11; n++) {
        const startedAt = Date.now()
        await cause(neighbour)
        await until(() => arrivedOf(neighbour).length === n, 'the neighbour gets its event')
        await untilWritten([neighbour])
        const tookMs = Date.now() - startedAt
        // Until the first time limit, they share the statement.
        if (n > 8) laterMs.push(tookMs)
        await delay(Math.max(0, 1_000 - tookMs))
      }
    } finally {
      await worker.query(`drop trigger slow on ${table}; drop function sleeps()`)
    }
    t.diagnostic(`the neighbour waited for ${laterMs.join()} ms`)
    await untilWritten()
    assert.deepEqual([arrivedOf(slow).length, countRepeated(walls)], [1, 0])
    // One that shares the statement waits for its limit, 5 s, each time.
    assert.ok(medianOf(laterMs) < 3_000, `${laterMs.join()} ms`)
  })

  test('what an endpoint answers while the node is down is written when it is back, and not sent again', async (t) => {
    const [lost, kept] = onWorker(1)
    const { held, answer } = holdAnswers(t, lost)
    hooks.hooks.length = 0
    await causeEach(lost)
    await until(() => held.length === lost.length, 'they arrive')
    await cluster.killWorker(1)
    try {
      answer()
      for (let n = 1; n <= 4; n++) {
        await causeEach(kept)
        await until(() => kept.every((wall) => arrivedOf(wall).length === n), 'the others get theirs')
        await delay(1_000)
      }
    } finally {
      await cluster.startWorker(1)
    }
    await causeEach(lost)
    await until(() => lost.every((wall) => arrivedOf(wall).length >= 2), 'what comes then is sent too')
    await untilWritten()
    assert.equal(countRepeated(walls), 0)
  })

  test('while a node is frozen for 20 s, the deliveries of others go on as before, and its own follow', async (t) => {
    const [lost, kept] = onWorker(1)
    hooks.hooks.length = 0
    const arrivals = new Map<string, () => void>()
    hooks.reply = ({ event }, res) => {
      res.writeHead(204).end()
      arrivals.get(event.tenant_id)?.()
    }
    t.after(() => (hooks.reply = 204))
    const sendOne = async (wall: Wall) => {
      const arrived = new Promise<void>((resolve) => arrivals.set(wall.tenant.id, resolve))
      await cause(wall)
      await arrived
      return true
    }
    const load = startPacedLoad(kept.map((wall) => ({ kind: 'kept', pauseMs: 100, call: () => sendOne(wall) })))
    let causedEach = 0
    const causeLost = async (forMs: number) => {
      for (const endsAt = Date.now() + forMs; Date.now() < endsAt; causedEach++) {
        await causeEach(lost)
        await delay(500)
      }
    }
    await causeLost(2_000)
    load.take()
    await causeLost(6_000)
    const before = load.take()['kept']!
    await cluster.freezeWorker(1)
    let hanging: number
    try {
      await causeLost(20_000)
      hanging = await countHanging()
    } finally {
      await cluster.thawWorker(1)
    }
    const during = load.take()['kept']!
    await load.stop()
    const count = (wall: Wall) => new Set(arrivedOf(wall).map(({ event }) => event.id)).size
    await until(() => lost.every((wall) => count(wall) === causedEach), 'what waited is sent')
    await untilWritten()
    const repeated = countRepeated(lost)
    t.diagnostic(`before: ${before.calls} deliveries, p50 ${before.p50} ms, p99 ${before.p99} ms`)
    t.diagnostic(`frozen: ${during.calls} deliveries, p50 ${during.p50} ms, p99 ${during.p99} ms`)
    t.diagnostic(`${hanging} sessions of the coordinator wait for the frozen node after 20 s`)
    t.diagnostic(`${causedEach * lost.length} deliveries of the frozen node, ${repeated} were repeated`)
    assert.equal(countRepeated(kept), 0)
    assert.ok(repeated <= lost.length * 16)
    assert.ok(hanging <= 40)
    // Without the measures against a frozen node it is 2 s. The addition is for a machine that has other work.
    assert.ok(during.p99 <= 2 * before.p99 + 1_000, `${during.p99} ms, and ${before.p99} ms before`)
  })

  test('while a node is down, the log has a line for each of its shards, and one when the shard is back', async (t) => {
    const [lost] = onWorker(1)
    hooks.hooks.length = 0
    hooks.reply = 500
    t.after(() => (hooks.reply = 204))
    await causeEach(lost)
    await until(() => lost.every((wall) => arrivedOf(wall).length > 0), 'they arrive')
    await until(async () => (await listUnwritten(lost)).every(isTried), 'the failures are written')
    // On a busy machine, the next attempt of some may be due already, or has been made.
    const ids = lost.map(({ tenant }) => tenant.id)
    const later = `now() + interval '5 seconds' where tenant_id = any ($1)`
    await db.query(`update webhook_deliveries set next_attempt_at = ${later} and status = 'pending'`, [ids])
    await db.query(`update webhook_queues set due_at = ${later}`, [ids])
    const arrived = new Map(lost.map((wall) => [wall, arrivedOf(wall).length]))
    const before = server.output().length
    const linesOf = (words: string) =>
      server
        .output()
        .slice(before)
        .split('\n')
        .filter((line) => line.includes(words))
    const shards = new Set(lost.map(({ shard }) => shard)).size
    const shardsOf = (words: string) => linesOf(words).map((line) => Number(/"shard":(\d+)/.exec(line)?.[1]))
    await cluster.killWorker(1)
    try {
      // The next attempt is due after 5 s. Each look claims the endpoints whose shard is tried again.
      await until(() => linesOf('a shard of the cluster has failed').length >= shards, 'all shards have failed', 30_000)
      await delay(5_000)
    } finally {
      hooks.reply = 204
      await cluster.startWorker(1)
    }
    await until(() => lost.every((wall) => arrivedOf(wall).length > arrived.get(wall)!), 'the next attempts arrive', 30_000)
    await until(() => linesOf('is back').length === shards, 'all shards are back')
    const failed = shardsOf('a shard of the cluster has failed')
    assert.deepEqual([failed.length, new Set(failed).size], [shards, shards])
    assert.deepEqual(new Set(shardsOf('is back')), new Set(failed))
    assert.deepEqual(linesOf('were interrupted'), [])
  })
})

const isTried = ({ status, attempts }: { status: string; attempts: number }) => status === 'pending' && attempts > 0

/** Two of one shard. */
function pairOf(walls: Wall[]): [Wall, Wall] {
  for (const [i, wall] of walls.entries()) {
    const other = walls.slice(i + 1).find(({ shard }) => shard === wall.shard)
    if (other) return [wall, other]
  }
  throw new Error('no two are of one shard')
}
