import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { passesOnce } from '../packages/server/testing/busy-machine.ts'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { testBuild } from '../packages/space/src/testing/test-space.ts'
import { startSpace } from '../packages/space/src/start-space.ts'
import { skipWithoutPgBouncer, startPgBouncer, type PgBouncer } from '../packages/traffic/src/postgres/testing/start-pgbouncer.ts'
import { adminToken, startAtrium, type AtriumProcess } from './support/atrium-process.ts'
import { call, makeTenant } from './support/call-api.ts'
import { startLoad } from './support/load.ts'
import { queryDatabase } from './support/query-database.ts'
import { runAtrium } from './support/run-atrium.ts'

const sessions = 4
/** A setting of the operator for all sessions of the database. */
const ownLimit = '47s'

describe('behind PgBouncer in transaction mode', { skip: skipWithoutPgBouncer }, () => {
  let database: TestDatabase
  let pooler: PgBouncer
  let pooledUrl: string
  let atrium: AtriumProcess

  before(async () => {
    database = await createTestDatabase()
    const name = new URL(database.url).pathname.slice(1)
    await queryDatabase(database.url, `alter database "${name}" set lock_timeout = '${ownLimit}'`)
    const settings = `pool_mode = transaction\ndefault_pool_size = ${sessions}\nmax_client_conn = 500`
    pooler = await startPgBouncer({ serverUrl: database.url, settings })
    pooledUrl = pooler.urlOf(name)
    const env = { DATABASE_URL: pooledUrl, DATABASE_DIRECT_URL: database.url, SPACE_DATABASE_POOL_SIZE: '3' }
    atrium = await startAtrium({ databaseUrl: database.url, env, args: ['--workers', '2'], space: true })
  })

  after(async () => {
    await atrium?.end()
    await pooler?.stop()
    await database?.drop()
  })

  test('many writers share a few sessions of PostgreSQL, and each write is there once', async () => {
    const load = await startLoad(atrium.origin, { itemWriters: 40 })
    for (const deadline = Date.now() + 30_000; load.acknowledged.length <= 100; await delay(50))
      assert.ok(Date.now() < deadline, `${load.acknowledged.length} writes`)
    const [row] = await queryDatabase<{ count: string }>(
      database.url,
      `select count(*) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and query not like 'listen %' and query <> 'select 1'`,
    )
    await load.stop()
    await load.assertOnce(atrium.origin)
    assert.ok(load.acknowledged.length > 100, `${load.acknowledged.length} writes`)
    assert.ok(Number(row!.count) <= sessions, `${row!.count} sessions`)
  })

  test('notifications arrive: a held poll returns with the turn', () =>
    passesOnce(async () => {
      const room = { room: `quay-${randomBytes(8).toString('hex')}`, mk: randomBytes(32).toString('base64url') }
      const space = async (fields: object) =>
        JSON.parse((await call(atrium.origin, 'POST /v1/space', { body: { ...room, ...fields } })).text)
      await space({ op: 'turn', message: { text: 'first', client_id: '1' } })
      const { etag, count } = await space({ op: 'poll' })
      const startedAt = performance.now()
      const held = space({ op: 'poll', sinceEtag: etag, sinceCount: count, waitMs: 20_000 })
      await delay(300)
      await space({ op: 'turn', message: { text: 'second', client_id: '2' } })
      assert.equal((await held).count, count + 1)
      assert.ok(performance.now() - startedAt < 3_000)
    }))

  test('notifications arrive: a suspended tenant is refused at once', () =>
    passesOnce(async () => {
      const tenant = await makeTenant(atrium.origin)
      const ask = () => call(atrium.origin, 'GET /v1/tenant', { key: tenant.secret })
      assert.equal((await ask()).status, 200)
      await call(atrium.origin, `POST /v1/tenants/${tenant.id}/status`, { operator: true, body: { status: 'suspended' } })
      // Connections are divided between both processes. Without notifications, each would ask again after 7.5 s.
      const answers = async () => new Set((await Promise.all(Array.from({ length: 10 }, ask))).map(({ status }) => status))
      let statuses = await answers()
      for (const deadline = Date.now() + 4_000; statuses.has(200) && Date.now() < deadline; statuses = await answers())
        await delay(50)
      assert.deepEqual(statuses, new Set([401]))
    }))

  test('no request changes a session of the pooler, which other clients get afterwards', async () => {
    const ask = () => call(atrium.origin, 'GET /v1/operator/versions', { operator: true })
    for (const { status } of await Promise.all(Array.from({ length: 8 }, ask))) assert.equal(status, 200)
    const read = () =>
      queryDatabase<{ limit: string }>(pooledUrl, `select current_setting('lock_timeout') as limit from pg_sleep(0.2)`)
    const found = await Promise.all(Array.from({ length: 2 * sessions }, read))
    assert.deepEqual(new Set(found.flat().map(({ limit }) => limit)), new Set([ownLimit]))
  })

  test('without a direct address the start is refused, with what to set', async () => {
    for (const command of ['api', 'migrate']) {
      const run = runAtrium([command], { DATABASE_URL: pooledUrl, ATRIUM_ADMIN_TOKEN: adminToken })
      assert.equal(await run.ended(30_000), 1, run.output())
      assert.match(run.output(), /^atrium: DATABASE_URL: .*transaction mode: set DATABASE_DIRECT_URL/)
    }
    const env = { SPACE_PORT: '0', DATABASE_URL: pooledUrl }
    await assert.rejects(startSpace({ env, build: testBuild }), /^Error: DATABASE_URL: .*set DATABASE_DIRECT_URL/)
  })

  test('commands that need a session of their own use the direct address', async () => {
    const env = { DATABASE_URL: pooledUrl, DATABASE_DIRECT_URL: database.url }
    const run = runAtrium(['migrate', '--status'], env)
    assert.equal(await run.ended(30_000), 0, run.output())
    assert.match(run.output(), /up to date/)
  })
})
