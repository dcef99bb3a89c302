import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startHookServer, type HookServer } from '../../packages/server/testing/hook-server.ts'
import { startAtrium, type AtriumProcess } from '../support/atrium-process.ts'
import { askGood, call as ask, makeCollection, makeTenant, type TestCollection, type TestTenant } from '../support/call-api.ts'
import { skipWithoutCitus, startCitusCluster, type CitusCluster } from '../support/citus-cluster.ts'
import { queryDatabase } from '../support/query-database.ts'
import { runAtrium } from '../support/run-atrium.ts'

interface Room {
  room: string
  mk: string
}

interface Wall extends TestCollection {
  tenant: TestTenant
}

interface Told {
  status: number
  /** error.reason of the API, or the reason of the Space service. */
  reason: string | undefined
}

/** The answers to writes while their worker does not respond. */
describe('writes to a worker of a Citus cluster that stops in the middle', { skip: skipWithoutCitus, timeout: 240_000 }, () => {
  /**
   * All of these are on the first worker, and each on a shard of its own: a commit that waits at one must not hold up
   * another, and few batches of a shard are written at once.
   */
  const rooms: Room[] = []
  const walls: Wall[] = []
  let cluster: CitusCluster
  let server: AtriumProcess
  let hooks: HookServer
  const folder = mkdtemp(join(tmpdir(), 'atrium-citus-frozen-'))

  before(async () => {
    cluster = await startCitusCluster()
    hooks = await startHookServer()
    const env = { ATRIUM_DATA_DIR: await folder, ATRIUM_RATE_LIMIT: '50', ATRIUM_EGRESS: 'loopback' }
    for (const command of ['migrate', 'distribute']) {
      const run = runAtrium([command], { ...env, DATABASE_URL: cluster.url })
      assert.equal(await run.ended(60_000), 0, run.output())
    }
    server = await startAtrium({ databaseUrl: cluster.url, space: true, env })
    const shards = new Set<string>()
    while (rooms.length < 4) {
      const room = await findRoom()
      const { shard } = await placeOf('rooms', room.room)
      if (shards.has(shard)) continue
      shards.add(shard)
      rooms.push(room)
    }
    while (walls.length < 2) {
      const tenant = await makeTenant(server.origin)
      const { isFirst, shard } = await placeOf('items', tenant.id)
      if (!isFirst || shards.has(shard)) continue
      shards.add(shard)
      walls.push({ tenant, ...(await makeCollection(server.origin, tenant.publishable)) })
    }
    // From now on, the process knows the ends of the rooms, and the coordinator has connections to the worker.
    for (const room of rooms) assert.equal((await say(room, 'before')).status, 200)
    for (const room of rooms) assert.equal((await say(room, 'again')).status, 200)
    assert.deepEqual(
      new Set((await Promise.all(walls.map((wall) => add(wall, 'before')))).map(({ status }) => status)),
      new Set([201]),
    )
  })

  after(async () => {
    await server?.end('SIGKILL')
    await hooks?.close()
    await cluster?.stop()
    await rm(await folder, { recursive: true, force: true })
  })

  /** The shard of rows with this value, and whether it is on the first worker. */
  async function placeOf(table: string, value: string): Promise<{ shard: string; isFirst: boolean }> {
    const [row] = await queryDatabase<{ shard: string; port: number }>(
      cluster.url,
      `select $1::text || '_' || shardid as shard, nodeport as port from pg_dist_shard_placement
        where shardid = get_shard_id_for_distribution_column($1::regclass, $2::text)`,
      [table, value],
    )
    return { shard: row!.shard, isFirst: row!.port === Number(new URL(firstWorker()).port) }
  }
  const firstWorker = () => cluster.url.replace(/:(\d+)\//, (_, port) => `:${Number(port) + 1}/`)
  async function findRoom(): Promise<Room> {
    for (;;) {
      const room = { room: `r${randomBytes(8).toString('hex')}`, mk: randomBytes(32).toString('base64url') }
      if ((await placeOf('rooms', room.room)).isFirst) return room
    }
  }
  async function space(op: string, fields: object): Promise<Told & { body: any }> {
    const res = await fetch(`${server.spacesOrigin}/space`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ op, ...fields }),
    })
    const body = (await res.json()) as any
    return { status: res.status, reason: body.reason, body }
  }
  const say = (room: Room, text: string) => space('turn', { ...room, message: { text, client_id: text } })
  async function textsOf(room: Room): Promise<string[]> {
    const { status, body } = await space('poll', room)
    assert.equal(status, 200)
    return body.entries.flatMap(({ message }: { message?: { text: string } }) => (message ? [message.text] : []))
  }
  async function tell(endpoint: string, options: Parameters<typeof ask>[2]): Promise<Told> {
    const { status, text } = await ask(server.origin, endpoint, options)
    return { status, reason: status < 300 ? undefined : JSON.parse(text).error.reason }
  }
  const add = ({ id, tenant }: Wall, content: string) =>
    tell(`POST /v1/collections/${id}/items`, { key: tenant.publishable, body: { type: 'message', content } })
  async function itemsOf({ id, token, tenant }: Wall): Promise<unknown[]> {
    const { data } = await askGood(server.origin, `GET /v1/collections/${id}/items`, { key: tenant.publishable, token })
    return data.items.map(({ content }) => content)
  }
  /** Waits until the worker has done what was sent to it before it stopped. */
  async function untilBack(): Promise<void> {
    await delay(1_000)
    for (const deadline = Date.now() + 15_000; ; await delay(200)) {
      const statuses = await Promise.all([space('poll', rooms[0]!), add(walls[1]!, 'is it back?')]).catch(() => [])
      if (statuses.length > 0 && statuses.every(({ status }) => status < 300)) return
      assert.ok(Date.now() < deadline, 'the worker does not answer again')
    }
  }
  /** Some connections of the coordinator to a worker that was killed are found lost only when they are used. */
  async function untilAdded(wall: Wall, content: string): Promise<void> {
    for (const deadline = Date.now() + 15_000; (await add(wall, content)).status !== 201; await delay(200))
      assert.ok(Date.now() < deadline, 'items are added again')
  }
  /** Makes the commits of such rows wait on the worker, after the request to commit or to prepare arrived. */
  async function holdCommits(t: TestContext, table: string, value: string, seconds: number): Promise<void> {
    const { shard } = await placeOf(table, value)
    const settings = 'set citus.enable_manual_changes_to_shards = on; set citus.enable_ddl_propagation = off'
    await queryDatabase(
      firstWorker(),
      `${settings}; create function hold_commit() returns trigger language plpgsql as 'begin perform pg_sleep(${seconds}); return null; end';
       create constraint trigger held after insert or update on ${shard} deferrable initially deferred
         for each row execute function hold_commit()`,
    )
    t.after(() => queryDatabase(firstWorker(), `${settings}; drop trigger held on ${shard}; drop function hold_commit()`))
  }
  /** The answer to a write whose worker is killed while it commits. */
  async function killDuring<T>(write: Promise<T>): Promise<T> {
    const commits = `select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`
    for (const deadline = Date.now() + 15_000; (await queryDatabase(firstWorker(), commits)).length === 0; await delay(50))
      assert.ok(Date.now() < deadline, 'it commits')
    await cluster.killWorker(1)
    try {
      return await write
    } finally {
      await cluster.startWorker(1)
    }
  }
  const unknown: Told = { status: 503, reason: 'outcome_unknown' }
  const undone: Told = { status: 503, reason: undefined }
  const told = ({ status, reason }: Told): Told => ({ status, reason })

  test('a line that a frozen worker may still write has an unknown outcome, and its repeat is stored once', async (t) => {
    await cluster.freezeWorker(1)
    const answers = await Promise.all(rooms.map((room) => say(room, 'frozen'))).finally(() => cluster.thawWorker(1))
    await untilBack()
    const late = (await Promise.all(rooms.map(textsOf))).filter((texts) => texts.includes('frozen')).length
    t.diagnostic(`${late} of ${rooms.length} lines were written when the worker went on`)
    assert.deepEqual(
      answers.map(told),
      rooms.map(() => unknown),
    )
    for (const room of rooms) {
      assert.equal((await say(room, 'frozen')).status, 200)
      assert.deepEqual(await textsOf(room), ['before', 'again', 'frozen'])
    }
  })

  test('an item that was refused because its worker is frozen is not there later', async () => {
    await cluster.freezeWorker(1)
    const answer = await add(walls[0]!, 'frozen').finally(() => cluster.thawWorker(1))
    await untilBack()
    assert.deepEqual(answer, undone)
    assert.deepEqual(await itemsOf(walls[0]!), ['before'])
  })

  test('an item whose worker does not answer while both nodes commit has an unknown outcome', async (t) => {
    await holdCommits(t, 'items', walls[0]!.tenant.id, 8)
    assert.deepEqual(await add(walls[0]!, 'late'), unknown)
    for (const deadline = Date.now() + 15_000; !(await itemsOf(walls[0]!)).includes('late'); await delay(200))
      assert.ok(Date.now() < deadline, 'it is added later')
  })

  test('an item whose worker goes down while both nodes commit is not there later', async (t) => {
    await holdCommits(t, 'items', walls[0]!.tenant.id, 30)
    const answer = await killDuring(add(walls[0]!, 'down'))
    await untilBack()
    assert.equal(answer.status, 503)
    assert.ok(!(await itemsOf(walls[0]!)).includes('down'))
  })

  test('a room whose worker goes down while it commits has an unknown outcome', async (t) => {
    const room = await findRoom()
    await holdCommits(t, 'rooms', room.room, 30)
    assert.deepEqual(told(await killDuring(space('create', { ...room, policy: 'open' }))), unknown)
    await untilBack()
  })

  test('a delivery that is sent again has an unknown outcome if its worker goes down while it commits', async (t) => {
    const key = walls[0]!.tenant.secret
    await askGood(server.origin, 'PUT /v1/tenant/webhooks', { key, body: { url: hooks.url } })
    await untilAdded(walls[0]!, 'told')
    let id = ''
    for (const deadline = Date.now() + 15_000; id === ''; await delay(100)) {
      const { data } = await askGood(server.origin, 'GET /v1/tenant/webhooks/deliveries', { key })
      for (const delivery of data as unknown as { id: string; status: string }[])
        if (delivery.status === 'succeeded') ({ id } = delivery)
      assert.ok(Date.now() < deadline, 'it is sent')
    }
    await holdCommits(t, 'webhook_deliveries', walls[0]!.tenant.id, 30)
    const answer = await killDuring(tell(`POST /v1/tenant/webhooks/deliveries/${id}/resend`, { key }))
    await untilBack()
    assert.deepEqual(answer, unknown)
  })
})
