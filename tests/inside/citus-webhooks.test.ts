import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { openDatabase, type Database, type Db } from '../../packages/server/src/db/database.ts'
import { ByShard } from '../../packages/server/src/features/distribution/by-shard.ts'
import { readTenantShards } from '../../packages/server/src/features/distribution/shards-store.ts'
import { measureQueues } from '../../packages/server/src/features/installation/queue-store.ts'
import { markResent, settleQueue } from '../../packages/server/src/features/webhooks/queue-store.ts'
import { startHookServer, type HookServer } from '../../packages/server/testing/hook-server.ts'
import { startAtrium, type AtriumProcess } from '../support/atrium-process.ts'
import {
  askGood,
  call as ask,
  callUntilServed,
  makeCollection,
  makeTenant,
  type TestCollection,
  type TestTenant,
} from '../support/call-api.ts'
import { skipWithoutCitus, startCitusCluster, type CitusCluster } from '../support/citus-cluster.ts'
import { assertOneShard, listRemoteCommands } from '../support/citus-plans.ts'
import { listDeliveryStatements, listOutcomeStatements } from '../support/delivery-statements.ts'
import { readSpread } from '../support/read-spread.ts'
import { runAtrium } from '../support/run-atrium.ts'

interface Wall extends TestCollection {
  tenant: TestTenant
  /** The id of a webhook endpoint beside the default one. */
  further: string
}

describe('webhooks on a Citus cluster', { skip: skipWithoutCitus, timeout: 240_000 }, () => {
  /** Of a tenant each: they are on both workers. */
  const walls: Wall[] = []
  let cluster: CitusCluster
  let server: AtriumProcess
  let hooks: HookServer
  let db: pg.Pool
  let database: Database
  const outputs: string[] = []
  let stored: unknown
  let spread: unknown
  let queued: unknown[]
  const folder = mkdtemp(join(tmpdir(), 'atrium-citus-webhooks-'))

  before(async () => {
    cluster = await startCitusCluster()
    hooks = await startHookServer(500)
    const env = { ATRIUM_DATA_DIR: await folder, ATRIUM_RATE_LIMIT: '50', ATRIUM_EGRESS: 'loopback' }
    const start = () => startAtrium({ databaseUrl: cluster.url, env })
    // Everything is still on the coordinator, and no delivery succeeds.
    server = await start()
    for (let n = 0; n < 16; n++) {
      const tenant = await makeTenant(server.origin)
      const collection = await makeCollection(server.origin, tenant.publishable)
      await askGood(server.origin, 'PUT /v1/tenant/webhooks', { key: tenant.secret, body: { url: hooks.url } })
      const made = await askGood(server.origin, 'POST /v1/tenant/webhooks/endpoints', {
        key: tenant.secret,
        body: { url: hooks.url },
      })
      walls.push({ tenant, ...collection, further: (made.data as unknown as { id: string }).id })
    }
    for (const wall of walls) await add(wall)
    await until(() => hooks.hooks.length >= 2 * walls.length, 'all were tried')
    await server.end()
    stored = await readSpread(cluster.url)
    for (let n = 0; n < 2; n++) {
      const run = runAtrium(['distribute'], { ...env, DATABASE_URL: cluster.url })
      const code = await run.ended(60_000)
      outputs.push(run.output())
      assert.equal(code, 0, run.output())
    }
    spread = await readSpread(cluster.url)
    db = new pg.Pool({ connectionString: cluster.url, max: 2, application_name: 'a script' })
    // A worker that is killed ends the idle connections to it.
    db.on('error', () => undefined)
    database = openDatabase({ url: cluster.url, maxConnections: 2, onConnectionError: () => undefined })
    queued = (await db.query('select endpoint_id, due_at is not null as due from webhook_queues')).rows
    hooks.reply = 204
    server = await start()
  })

  after(async () => {
    await server?.end('SIGKILL')
    if (!db?.ended) await db?.end()
    await database?.close()
    await hooks?.close()
    await cluster?.stop()
    await rm(await folder, { recursive: true, force: true })
  })

  const add = ({ id, tenant }: Wall) =>
    askGood(server.origin, `POST /v1/collections/${id}/items`, {
      key: tenant.publishable,
      body: { type: 'message', content: {} },
    })
  /** After a worker restarts, the coordinator may use a connection from before. The request then gets 503, and is repeated. */
  const addAfterRestart = async ({ id, tenant }: Wall) => {
    const options = { key: tenant.publishable, idempotencyKey: randomUUID(), body: { type: 'message', content: {} } }
    const isAdded = async () => (await ask(server.origin, `POST /v1/collections/${id}/items`, options)).status === 201
    await until(isAdded, 'it is added')
  }
  const arrivedOf = ({ tenant }: Wall) => hooks.hooks.filter(({ event }) => event.tenant_id === tenant.id).length
  async function until(isSo: () => boolean | Promise<boolean>, what: string, withinMs = 20_000): Promise<void> {
    for (const deadline = Date.now() + withinMs; !(await isSo()); await delay(50)) assert.ok(Date.now() < deadline, what)
  }
  const countOf = async (sql: string, values: unknown[] = []) => Number((await db.query(sql, values)).rows[0].count)
  const untilSettled = () =>
    until(
      async () => (await countOf('select count(*) from webhook_queues where due_at is not null')) === 0,
      'no endpoint is marked any more',
    )
  const dueOf = ({ tenant }: Wall) =>
    countOf(`select count(*) from webhook_queues where tenant_id = $1 and endpoint_id = 'default' and due_at <= now()`, [
      tenant.id,
    ])
  /** Until it is released, no worker claims the default endpoint. */
  const hold = ({ tenant }: Wall) =>
    db.query(`update webhooks set lease_owner = 'test', lease_until = 'infinity' where tenant_id = $1`, [tenant.id])
  const release = ({ tenant }: Wall) =>
    db.query('update webhooks set lease_owner = null, lease_until = null where tenant_id = $1', [tenant.id])

  test('a database with pending deliveries is moved, each is what it was, and each endpoint is marked', () => {
    assert.match(outputs[0]!, /^webhook_deliveries: 16 rows, spread by tenant_id over 16 shards$/m)
    assert.match(outputs[0]!, /^webhook_endpoint_deliveries: 16 rows, spread by tenant_id over 16 shards$/m)
    assert.match(outputs[1]!, /^webhook_deliveries: spread already$/m)
    assert.deepEqual(spread, stored)
    assert.equal(queued.length, 2 * walls.length)
    assert.ok(queued.every((row) => (row as { due: boolean }).due))
  })

  test('what was pending is sent, and what comes then, to both endpoints of each tenant', async () => {
    await until(
      async () => (await countOf(`select count(*) from webhook_deliveries where status = 'pending'`)) === 0,
      'the first are written down',
    )
    const before = hooks.hooks.length
    await Promise.all(walls.map(add))
    await until(() => hooks.hooks.length >= before + 2 * walls.length, 'the next arrive')
    await untilSettled()
    for (const table of ['webhook_deliveries', 'webhook_endpoint_deliveries'])
      assert.equal(await countOf(`select count(*) from ${table} where status = 'succeeded'`), 2 * walls.length, table)
    const listed = await askGood(server.origin, 'GET /v1/tenant/webhooks/deliveries?endpoint=default', {
      key: walls[0]!.tenant.secret,
    })
    const [last] = (JSON.parse(listed.text) as { data: { attempts: { status: number; answer: string }[] }[] }).data
    assert.deepEqual([last?.attempts.length, last?.attempts[0]?.status, last?.attempts[0]?.answer], [1, 204, ''])
  })

  test('a delivery that fails is tried again, and its endpoint is marked for that time', async () => {
    const wall = walls[0]!
    hooks.reply = 500
    const before = arrivedOf(wall)
    await add(wall)
    await until(() => arrivedOf(wall) === before + 2, 'both endpoints get it')
    hooks.reply = 204
    await until(
      async () =>
        (await countOf(
          `select count(*) from webhook_queues q join webhook_deliveries d on d.tenant_id = q.tenant_id
            where q.tenant_id = $1 and q.endpoint_id = 'default' and d.status = 'pending' and d.next_attempt_at = q.due_at and d.tries = 1`,
          [wall.tenant.id],
        )) === 1,
      'the mark has its time',
    )
    await until(() => arrivedOf(wall) === before + 4, 'they get it again')
    await untilSettled()
  })

  test('what waits is sent after the clock of the database was set back', async () => {
    const wall = walls[0]!
    hooks.reply = 500
    const before = arrivedOf(wall)
    await add(wall)
    await until(() => arrivedOf(wall) === before + 2, 'both endpoints get it')
    const tried = `select (select count(*) from webhook_deliveries where status = 'pending' and tries = 1)
      + (select count(*) from webhook_endpoint_deliveries where status = 'pending' and tries = 1) as count`
    await until(async () => (await countOf(tried)) === 2, 'both failures are written down')
    hooks.reply = 204
    for (const table of ['webhook_deliveries', 'webhook_endpoint_deliveries'])
      await db.query(
        `update ${table} set next_attempt_at = now() + interval '1 hour' where tenant_id = $1 and status = 'pending'`,
        [wall.tenant.id],
      )
    await db.query(`update webhook_queues set due_at = now() + interval '1 hour' where tenant_id = $1`, [wall.tenant.id])
    await db.query(`update database_contact set last_at = now() + interval '1 hour'`)
    await until(() => arrivedOf(wall) === before + 4, 'they get it again')
    await untilSettled()
  })

  test('the mark of an endpoint stays if something may be pending that was not seen', async () => {
    const wall = walls[1]!
    const ref = { tenantId: wall.tenant.id, endpointId: 'default' }
    /** Does something just before the mark is taken away. */
    const settleAfter = (act: () => Promise<unknown>) => {
      const late: Db = {
        query: async (statement, values) => {
          if (statement.name === 'webhooks-queue-settle') await act()
          return database.query(statement, values)
        },
      }
      return settleQueue(late, ref)
    }
    await hold(wall)
    const mark = () => db.query('update webhook_queues set due_at = now() where tenant_id = $1', [ref.tenantId])
    await mark()
    assert.equal(await settleAfter(() => database.transaction((tx) => markResent(tx, ref))), 'settled')
    assert.equal(await dueOf(wall), 1, 'somebody has sent again')
    const numbering = async () => {
      await add(wall)
      await askGood(server.origin, 'GET /v1/events', { key: wall.tenant.secret })
    }
    assert.equal(await settleAfter(numbering), 'settled')
    assert.equal(await dueOf(wall), 1, 'an event was numbered')
    assert.equal(await settleQueue(database, ref), 'due')
    const locked = await db.connect()
    try {
      await db.query(`update webhook_deliveries set status = 'succeeded', next_attempt_at = null where tenant_id = $1`, [
        ref.tenantId,
      ])
      await locked.query('begin')
      await locked.query('select from event_heads where tenant_id = $1 for no key update', [ref.tenantId])
      assert.equal(await settleQueue(database, ref), 'settled')
      assert.equal(await dueOf(wall), 1, 'somebody is numbering')
    } finally {
      await locked.query('rollback')
      locked.release()
    }
    // As if the worker's part of the commit were still to come.
    await db.query('update event_heads set last_sequence = last_sequence + 1 where tenant_id = $1', [ref.tenantId])
    assert.equal(await settleQueue(database, ref), 'hidden')
    await db.query('update event_heads set last_sequence = last_sequence - 1 where tenant_id = $1', [ref.tenantId])
    assert.equal(await settleQueue(database, ref), 'settled')
    assert.equal(await dueOf(wall), 0)
    await release(wall)
  })

  test('the depth of the queue counts due deliveries of all shards', async () => {
    const some = walls.slice(2, 6)
    await untilSettled()
    for (const wall of some) await hold(wall)
    for (const wall of some) await add(wall)
    await until(async () => (await Promise.all(some.map(dueOf))).every((due) => due === 1), 'they are queued')
    const byShard = new ByShard(await readTenantShards(database))
    const depth = async () => {
      const queues = await measureQueues(database, byShard)
      return queues.find(({ name }) => name === 'webhook_deliveries')!.depth
    }
    await until(async () => (await depth()) === 4, 'four are due')
    for (const wall of some) await release(wall)
    await until(async () => (await depth()) === 0, 'they are sent')
  })

  test('each statement about the deliveries of a tenant goes to one shard', async () => {
    const statements = await listDeliveryStatements(walls[0]!.tenant.id)
    const names = new Set(statements.map(({ name }) => name))
    assert.ok(names.size >= 24, [...names].join(' '))
    for (const one of statements) await assertOneShard(db, one)
  })

  test('an outcome that ends the failures of its endpoint commits on both nodes or on none', async () => {
    const ref = { tenantId: walls[0]!.tenant.id, endpointId: 'default' }
    const commandsOf = async (isFailing: boolean) => {
      const statements = await listOutcomeStatements(ref, isFailing)
      return (
        await listRemoteCommands(
          db,
          statements.map(({ text, values }) => [text, values]),
        )
      ).join('\n')
    }
    assert.doesNotMatch(await commandsOf(false), /PREPARE TRANSACTION/)
    assert.match(await commandsOf(true), /PREPARE TRANSACTION[^]*COMMIT PREPARED/)
  })

  test('while a worker is down, the endpoints of its tenants wait, and all others get their events', async () => {
    const port = Number(new URL(cluster.url).port) + 1
    const { rows } = await db.query<{ id: string }>(
      `select t.id from tenants t join pg_dist_shard_placement p on p.shardid = get_shard_id_for_distribution_column('events', t.id)
        where p.nodeport = $1`,
      [port],
    )
    const downs = new Set(rows.map(({ id }) => id))
    const [lost, kept] = [walls.filter(({ tenant }) => downs.has(tenant.id)), walls.filter(({ tenant }) => !downs.has(tenant.id))]
    assert.ok(lost.length > 0 && kept.length > 0)
    await untilSettled()
    const change = ({ id, token, tenant }: Wall, title: string) =>
      askGood(server.origin, `PATCH /v1/collections/${id}`, {
        key: tenant.publishable,
        token,
        body: { metadata: { share_title: title } },
      })
    const before = new Map(walls.map((wall) => [wall, arrivedOf(wall)]))
    await cluster.killWorker(1)
    try {
      await db.query('update webhook_queues set due_at = now() where tenant_id = any ($1)', [lost.map(({ tenant }) => tenant.id)])
      for (const wall of lost) await change(wall, 'while down')
      for (let n = 1; n <= 5; n++) {
        for (const wall of kept) await change(wall, `${n}`)
        await until(() => kept.every((wall) => arrivedOf(wall) === before.get(wall)! + 2 * n), 'they are sent')
      }
      for (const wall of lost) assert.equal(await dueOf(wall), 1)
      for (const wall of lost) assert.equal(arrivedOf(wall), before.get(wall)!)
    } finally {
      await cluster.startWorker(1)
    }
    await until(() => lost.every((wall) => arrivedOf(wall) >= before.get(wall)! + 2), 'what waited is sent')
    await untilSettled()
  })

  test('an endpoint that is deleted leaves neither a pending delivery nor a mark', async () => {
    const { tenant, further, ...wall } = walls[3]!
    await db.query(`update webhook_endpoints set lease_owner = 'test', lease_until = 'infinity' where tenant_id = $1`, [
      tenant.id,
    ])
    await addAfterRestart({ tenant, further, ...wall })
    const pending = () =>
      countOf(`select count(*) from webhook_endpoint_deliveries where tenant_id = $1 and status = 'pending'`, [tenant.id])
    await until(async () => (await pending()) === 1, 'it is queued')
    const gone = await callUntilServed(server.origin, `DELETE /v1/tenant/webhooks/endpoints/${further}`, { key: tenant.secret })
    assert.equal(gone.status, 204)
    assert.equal(await pending(), 0)
    assert.equal(
      await countOf('select count(*) from webhook_queues where tenant_id = $1 and endpoint_id = $2', [tenant.id, further]),
      0,
    )
  })

  test('where an earlier release has spread other tables, this one starts only after atrium distribute', async () => {
    const wall = walls[5]!
    await untilSettled()
    await server.end()
    await database.close()
    await db.query(`select undistribute_table('webhook_deliveries')`)
    const { rows } = await db.query(
      `update webhook_deliveries set status = 'pending', next_attempt_at = now()
        where tenant_id = $1 and sequence = (select max(sequence) from webhook_deliveries where tenant_id = $1) returning id`,
      [wall.tenant.id],
    )
    assert.equal(rows.length, 1)
    await db.query('delete from webhook_queues')
    await db.end()
    const before = arrivedOf(wall)
    const env = { ATRIUM_DATA_DIR: await folder, ATRIUM_RATE_LIMIT: '50', ATRIUM_EGRESS: 'loopback' }
    const refusal = /also spreads webhook_deliveries over the nodes: stop all processes and run atrium distribute/
    await assert.rejects(startAtrium({ databaseUrl: cluster.url, env }), refusal)
    const run = runAtrium(['distribute'], { ...env, DATABASE_URL: cluster.url })
    assert.equal(await run.ended(60_000), 0, run.output())
    server = await startAtrium({ databaseUrl: cluster.url, env })
    await until(() => arrivedOf(wall) === before + 1, 'what was pending is sent')
  })
})
