import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { openDatabase } from '../../packages/server/src/db/database.ts'
import { forgetOldEvents } from '../../packages/server/src/features/webhooks/delivery-store.ts'
import { startHookServer, type HookServer } from '../../packages/server/testing/hook-server.ts'
import { openStream } from '../../packages/server/testing/read-stream.ts'
import { startAtrium, type AtriumProcess } from '../support/atrium-process.ts'
import { askGood, call as ask, makeCollection, makeTenant, type TestCollection, type TestTenant } from '../support/call-api.ts'
import { skipWithoutCitus, startCitusCluster, type CitusCluster } from '../support/citus-cluster.ts'
import { assertOneShard, listRemoteCommands } from '../support/citus-plans.ts'
import { listEventStatements } from '../support/event-statements.ts'
import { readSpread } from '../support/read-spread.ts'
import { runAtrium } from '../support/run-atrium.ts'

interface Wall extends TestCollection {
  tenant: TestTenant
}

interface Link {
  sequence: number
  prev_hash: string | null
  hash: string
}

describe('events on a Citus cluster', { skip: skipWithoutCitus, timeout: 240_000 }, () => {
  /** Of a tenant each: they are on both workers. */
  const walls: Wall[] = []
  let cluster: CitusCluster
  let server: AtriumProcess
  let hooks: HookServer
  let db: pg.Pool
  let distributed: string
  let stored: unknown
  let spread: unknown
  const folder = mkdtemp(join(tmpdir(), 'atrium-citus-events-'))

  before(async () => {
    cluster = await startCitusCluster()
    hooks = await startHookServer()
    const env = { ATRIUM_DATA_DIR: await folder, ATRIUM_RATE_LIMIT: '50', ATRIUM_EGRESS: 'loopback' }
    const start = () => startAtrium({ databaseUrl: cluster.url, env })
    // Everything is still on the coordinator.
    server = await start()
    for (let n = 0; n < 16; n++) {
      const tenant = await makeTenant(server.origin)
      walls.push({ tenant, ...(await makeCollection(server.origin, tenant.publishable)) })
    }
    for (const wall of walls) await add(wall, 3)
    for (const wall of walls) await linksOf(wall)
    await server.end()
    stored = await readSpread(cluster.url)
    const run = runAtrium(['distribute'], { ...env, DATABASE_URL: cluster.url })
    const code = await run.ended(60_000)
    distributed = run.output()
    assert.equal(code, 0, distributed)
    spread = await readSpread(cluster.url)
    db = new pg.Pool({ connectionString: cluster.url, max: 2, application_name: 'a script' })
    // A worker that is killed ends the idle connections to it.
    db.on('error', () => undefined)
    server = await start()
  })

  after(async () => {
    await server?.end('SIGKILL')
    await db?.end()
    await hooks?.close()
    await cluster?.stop()
    await rm(await folder, { recursive: true, force: true })
  })

  async function add({ id, tenant }: Wall, count: number): Promise<void> {
    const body = { type: 'message', content: {} }
    for (let n = 0; n < count; n++)
      await askGood(server.origin, `POST /v1/collections/${id}/items`, { key: tenant.publishable, body })
  }
  /** All events of the tenant. They follow each other, and so do their hashes. */
  async function linksOf({ tenant }: Wall): Promise<Link[]> {
    const { text } = await askGood(server.origin, 'GET /v1/events/hashes?limit=100', { key: tenant.secret })
    const { data } = JSON.parse(text) as { data: Link[] }
    for (const [i, { sequence, prev_hash: before }] of data.entries())
      if (i > 0) assert.deepEqual([sequence, before], [data[i - 1]!.sequence + 1, data[i - 1]!.hash])
    return data
  }
  /** Deletes an event, as if the worker's part of its commit were still to come. Returns what puts it back. */
  async function takeEvent(by: pg.Pool | pg.PoolClient, { tenant }: Wall, sequence: number): Promise<string> {
    const ofEvent = [tenant.id, sequence]
    const where = 'where tenant_id = $1 and sequence = $2'
    const { rows } = await by.query(`select to_json(e)::text as event from events e ${where}`, ofEvent)
    await by.query(`delete from events ${where}`, ofEvent)
    return rows[0].event
  }
  async function putEventBack({ tenant }: Wall, event: string): Promise<void> {
    const { sequence, id, type, data, created_at: at, hash, hash_before: before, open_item: open } = JSON.parse(event)
    await db.query(
      `insert into events (tenant_id, sequence, id, type, data, created_at, hash, hash_before, open_item)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
      [tenant.id, sequence, id, type, data, at, Buffer.from(hash.slice(2), 'hex'), Buffer.from(before.slice(2), 'hex'), open],
    )
  }
  const setHook = ({ tenant }: Wall) =>
    askGood(server.origin, 'PUT /v1/tenant/webhooks', { key: tenant.secret, body: { url: hooks.url } })
  const arrivedOf = ({ tenant }: Wall) => hooks.hooks.filter(({ event }) => event.tenant_id === tenant.id)
  async function until(isSo: () => boolean | Promise<boolean>, what: string, withinMs = 15_000): Promise<void> {
    for (const deadline = Date.now() + withinMs; !(await isSo()); await delay(50)) assert.ok(Date.now() < deadline, what)
  }

  test('a database with events is moved, and each event is what it was', () => {
    const count = (stored as unknown[][]).at(-1)!.length
    assert.ok(count >= 16 * 4)
    assert.match(distributed, new RegExp(`^events: ${count} rows, spread by tenant_id over 16 shards$`, 'm'))
    assert.deepEqual(spread, stored)
  })

  test('events of tenants of all shards at once are numbered without a gap, in one chain with those before', async () => {
    const before = await Promise.all(walls.map(linksOf))
    await Promise.all(walls.map((wall) => add(wall, 5)))
    const now = await Promise.all(walls.map(linksOf))
    for (const [i, links] of now.entries()) {
      assert.deepEqual(links.slice(0, before[i]!.length), before[i])
      assert.equal(links.length, before[i]!.length + 5)
    }
  })

  test('while the event at the head is not visible, no later event gets a number, and no page ends before it', async () => {
    const wall = walls[1]!
    const links = await linksOf(wall)
    const last = links.at(-1)!.sequence
    const event = await takeEvent(db, wall, last)
    await add(wall, 2)
    await delay(2_000)
    const pull = (query: string) => ask(server.origin, `GET /v1/events?${query}`, { key: wall.tenant.secret })
    const refused = await pull(`after=${last - 1}`)
    assert.deepEqual([refused.status, refused.code], [503, 'unavailable'])
    assert.ok(Number(refused.headers['retry-after']) > 0)
    const full = await pull(`after=0&limit=${last - 1}`)
    assert.deepEqual([full.status, full.text.split('"sequence"').length], [200, last], 'a full page is not the end')
    await putEventBack(wall, event)
    const now = await linksOf(wall)
    assert.deepEqual(now.slice(0, links.length), links)
    assert.equal(now.length, links.length + 2)
  })

  test('a pull that waits for the lock of another process returns what that one numbers, once it is visible', async () => {
    const wall = walls[2]!
    const { id } = wall.tenant
    const { sequence, hash } = (await linksOf(wall)).at(-1)!
    const other = await db.connect()
    try {
      await other.query('begin')
      await other.query('select from event_heads where tenant_id = $1 for no key update', [id])
      await add(wall, 1)
      const pulled = linksOf(wall)
      await delay(500)
      const { rows } = await other.query('select slot, position from event_outbox where tenant_id = $1', [id])
      await other.query('select number_spread($1, $2, $3, $4, $5, $6, $7)', [
        [id],
        [sequence],
        [Buffer.from(hash, 'hex')],
        [rows[0].slot],
        [rows[0].position],
        [1],
        randomBytes(32),
      ])
      const event = await takeEvent(other, wall, sequence + 1)
      await other.query('commit')
      await delay(150)
      await putEventBack(wall, event)
      assert.equal((await pulled).at(-1)?.sequence, sequence + 1)
    } finally {
      other.release(true)
    }
  })

  test('they are delivered, sent again, and recovered after failures', async () => {
    const wall = walls[0]!
    await setHook(wall)
    hooks.reply = 410
    await add(wall, 1)
    await until(() => arrivedOf(wall).length === 1, 'it arrives')
    hooks.reply = 204
    await until(async () => {
      const { data } = await askGood(server.origin, 'GET /v1/tenant/webhooks', { key: wall.tenant.secret })
      return !(data as unknown as { enabled: boolean }).enabled
    }, 'the endpoint is disabled')
    await setHook(wall)
    const listed = await askGood(server.origin, 'GET /v1/tenant/webhooks/deliveries', { key: wall.tenant.secret })
    const [failed] = (JSON.parse(listed.text) as { data: { id: string; status: string }[] }).data
    assert.ok(failed)
    const path = `/v1/tenant/webhooks/deliveries/${failed.id}/resend`
    await askGood(server.origin, `POST ${path}`, { key: wall.tenant.secret, body: {} })
    await until(() => arrivedOf(wall).length === 2, 'it is sent again')
    // The outcome is written after the arrival, and would undo the next statement.
    await until(async () => {
      const now = await askGood(server.origin, 'GET /v1/tenant/webhooks/deliveries', { key: wall.tenant.secret })
      return (JSON.parse(now.text) as { data: { id: string; status: string }[] }).data.some(
        ({ id, status }) => id === failed.id && status === 'succeeded',
      )
    }, 'its outcome is written')
    await db.query(`update webhook_deliveries set status = 'failed', next_attempt_at = null where tenant_id = $1`, [
      wall.tenant.id,
    ])
    const recover = (since: string) =>
      askGood(server.origin, 'POST /v1/tenant/webhooks/endpoints/default/recover', { key: wall.tenant.secret, body: { since } })
    assert.deepEqual((await recover(new Date(Date.now() + 60_000).toISOString())).data, { queued: 0 })
    assert.deepEqual((await recover(new Date(Date.now() - 600_000).toISOString())).data, { queued: 1 })
    await until(() => arrivedOf(wall).length === 3, 'it is recovered')
  })

  test('each statement about the events of a tenant goes to one shard', async () => {
    const { id, tenant } = walls[0]!
    const statements = await listEventStatements(tenant.id, id)
    assert.ok(statements.length > 12, `${statements.length}`)
    for (const one of statements) await assertOneShard(db, one)
  })

  test('numbering is committed on both nodes or on none', async () => {
    const commands = await listRemoteCommands(db, [
      // Without the trigger of the outbox, since an event is numbered in a later transaction.
      ['set local session_replication_role = replica', []],
      [`insert into event_outbox (tenant_id, id, type, data) values ('ten_nobody', 'evt_1', 'key.created', '{}')`, []],
      [
        `select number_spread(array['ten_nobody'], array[0], array[null]::bytea[], array[slot], array[position], array[1], sha256('x'))
           from event_outbox where tenant_id = 'ten_nobody'`,
        [],
      ],
    ])
    const { rows } = await db.query(`select sequence::int, id from events where tenant_id = 'ten_nobody'`)
    assert.deepEqual(rows, [{ sequence: 1, id: 'evt_1' }])
    assert.match(commands.join('\n'), /PREPARE TRANSACTION[^]*COMMIT PREPARED/)
  })

  test('events that the previous release numbered get their hashes', async () => {
    const wall = walls[1]!
    const links = await linksOf(wall)
    const { length } = links
    await db.query('update events set hash = null, hash_before = null where tenant_id = $1 and sequence > $2', [
      wall.tenant.id,
      length - 2,
    ])
    await db.query(`update event_heads set chain_sequence = $2, chain_hash = decode($3, 'hex') where tenant_id = $1`, [
      wall.tenant.id,
      length - 2,
      links.at(-3)!.hash,
    ])
    assert.deepEqual(await linksOf(wall), links)
  })

  test('old events are deleted from the beginning of each tenant, a batch at a time, with what waits for them', async () => {
    const [a, b] = [walls[2]!, walls[3]!]
    const [before, kept] = [await linksOf(a), await linksOf(b)]
    // The sweep of the server runs once a minute, and would delete some of them.
    await db.query(`update sweep_leases set ran_at = clock_timestamp() where name = 'old events'`)
    await db.query(`update events set created_at = now() - interval '31 days' where tenant_id = any ($1) and sequence <= 3`, [
      [a.tenant.id, b.tenant.id],
    ])
    await db.query(`insert into webhook_deliveries (tenant_id, sequence, id, next_attempt_at) values ($1, 1, 'evt_x', now())`, [
      a.tenant.id,
    ])
    const database = openDatabase({ url: cluster.url, maxConnections: 1, onConnectionError: () => undefined })
    try {
      const place = { isSpread: true }
      const counts = []
      while (counts.at(-1) !== 0) counts.push(await forgetOldEvents(database, 4, 30, place))
      assert.deepEqual(counts, [4, 2, 0])
    } finally {
      await database.close()
    }
    assert.deepEqual([await linksOf(a), await linksOf(b)], [before.slice(3), kept.slice(3)])
    const { rows } = await db.query(`select from webhook_deliveries where tenant_id = $1`, [a.tenant.id])
    assert.equal(rows.length, 0)
  })

  test('while a worker is down, the events of its tenants wait, and those of all others are numbered, streamed and sent', async () => {
    const port = Number(new URL(cluster.url).port) + 1
    const { rows } = await db.query<{ id: string }>(
      `select t.id from tenants t join pg_dist_shard_placement p on p.shardid = get_shard_id_for_distribution_column('events', t.id)
        where p.nodeport = $1`,
      [port],
    )
    const downs = new Set(rows.map(({ id }) => id))
    const [lost, kept] = [walls.filter(({ tenant }) => downs.has(tenant.id)), walls.filter(({ tenant }) => !downs.has(tenant.id))]
    assert.ok(lost.length > 0 && kept.length > 0)
    const [gone, here] = [lost[0]!, kept[0]!]
    for (const wall of [gone, here]) await setHook(wall)
    const streamOf = ({ tenant }: Wall) => openStream(`${server.origin}/v1`, '/events/stream', { key: tenant.secret })
    const [lostStream, stream] = [await streamOf(gone), await streamOf(here)]
    const change = ({ id, token, tenant }: Wall, title: string) =>
      askGood(server.origin, `PATCH /v1/collections/${id}`, {
        key: tenant.publishable,
        token,
        body: { metadata: { share_title: title } },
      })
    const had = new Map<Wall, number>()
    for (const wall of walls) had.set(wall, (await linksOf(wall)).length)
    const arrived = arrivedOf(here).length
    await cluster.killWorker(1)
    try {
      // A change of a collection is written on the coordinator: its event waits in the outbox.
      for (const wall of walls) await change(wall, 'while down')
      for (const wall of kept) assert.equal((await linksOf(wall)).length, had.get(wall)! + 1)
      for (const wall of lost)
        assert.equal((await ask(server.origin, 'GET /v1/events', { key: wall.tenant.secret })).status, 503, wall.tenant.id)
      for (let n = 1; n <= 3; n++) {
        await change(here, `again ${n}`)
        await stream.untilCount(1 + n, 20_000)
        await until(() => arrivedOf(here).length === arrived + 1 + n, 'it is sent', 20_000)
      }
      const late = await streamOf(gone)
      assert.equal(late.status, 503)
      const another = await streamOf(kept[1]!)
      assert.equal(another.status, 200)
      for (const one of [late, another]) one.close()
    } finally {
      await cluster.startWorker(1)
    }
    await until(
      async () => (await ask(server.origin, 'GET /v1/events', { key: gone.tenant.secret })).status === 200,
      'it answers',
    )
    for (const wall of lost) assert.equal((await linksOf(wall)).length, had.get(wall)! + 1)
    await lostStream.untilCount(1, 20_000)
    await until(() => arrivedOf(gone).length > 0, 'what waited is sent', 20_000)
    for (const one of [lostStream, stream]) one.close()
  })

  test('a deleted tenant leaves no event', async () => {
    const { tenant } = walls[4]!
    const { status } = await ask(server.origin, `POST /v1/tenants/${tenant.id}/deletion`, {
      operator: true,
      body: { after_days: 0 },
    })
    assert.ok(status < 300, `${status}`)
    await until(
      async () => {
        const { rows } = await db.query('select count(*)::int as left from events where tenant_id = $1', [tenant.id])
        return rows[0].left === 0
      },
      'its events are gone',
      60_000,
    )
  })
})
