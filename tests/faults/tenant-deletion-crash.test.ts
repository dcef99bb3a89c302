import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createTestDatabase, type TestDatabase } from '../../packages/server/testing/test-database.ts'
import { freePort, startAtrium, type AtriumProcess } from '../support/atrium-process.ts'
import { call, makeCollection, makeTenant } from '../support/call-api.ts'
import { fundIssuer } from '../support/fund-issuer.ts'
import { startPostgresProxy, type PostgresProxy } from '../support/postgres-proxy.ts'
import { queryDatabase } from '../support/query-database.ts'

let database: TestDatabase
let proxy: PostgresProxy
let atrium: AtriumProcess
let port: number
before(async () => {
  database = await createTestDatabase()
  proxy = await startPostgresProxy(database.url)
  port = await freePort()
  atrium = await start()
})
after(async () => {
  await atrium.end('SIGKILL')
  await proxy.close()
  await database.drop()
})

const start = () => startAtrium({ databaseUrl: proxy.url, port, role: 'api' })

const items = 'with gone as (delete from items where'
/**
 * The statements at which the process is killed, in the order of a deletion. Each takes a restart and a sweep, so there
 * is one for each transaction that a deletion consists of.
 */
const points = [
  { of: 'update tenant_deletions set started_at', nth: 1, when: 'after' },
  { of: items, nth: 2, when: 'after' },
  { of: 'insert into blob_deletions', nth: 1, when: 'after' },
  { of: 'update tenant_deletions set finished_at', nth: 1, when: 'after' },
] as const

test('a deletion whose process is killed at any step goes on after the restart, and ends with nothing half deleted', async () => {
  const { origin } = atrium
  const [gone, stays] = [await makeTenant(origin), await makeTenant(origin)]
  await fundIssuer(origin, gone.secret, 100)
  const grant = { key: gone.secret, body: { amount: 5, memo: 'canary' } }
  assert.equal((await call(origin, 'POST /v1/wallets/grant', { ...grant, idempotencyKey: 'grant' })).status, 201)
  for (const { id, publishable } of [gone, stays]) {
    const collection = await makeCollection(origin, publishable)
    await queryDatabase(
      database.url,
      `insert into items (tenant_id, collection_id, id, seq, type, content)
       select $1, $2, 'itm_' || n, n, 'message', '{}' from generate_series(1, 2500) n`,
      [id, collection.id],
    )
  }
  const ledger = () =>
    queryDatabase(
      database.url,
      `select (select json_agg(a order by tenant_id, id) from ledger_accounts a)::text as accounts,
         (select json_agg(json_build_array(tenant_id, id, kind, from_id, to_id, amount) order by id) from ledger_transfers)::text as moved`,
    )
  const before = await ledger()
  const path = `/v1/tenants/${gone.id}/deletion`
  const state = async (): Promise<string> =>
    JSON.parse((await call(atrium.origin, `GET ${path}`, { operator: true })).text).data.state

  let stands = proxy.hold(points[0])
  assert.equal((await call(origin, `POST ${path}`, { operator: true, body: { after_days: 0 } })).status, 202)
  for (const [i, point] of points.entries()) {
    const stood = await Promise.race([stands, delay(60_000, undefined, { ref: false })])
    assert.ok(stood, `${JSON.stringify(point)} is reached`)
    await atrium.end('SIGKILL')
    // A held statement must not reach PostgreSQL.
    await proxy.cut()
    await proxy.restore()
    proxy.release()
    // As after the time for which the killed process held the sweep.
    await queryDatabase(database.url, 'update sweep_leases set until = null, ran_at = null')
    // Ends the minute after the suspension in which requests may still write.
    await queryDatabase(database.url, `update tenant_deletions set requested_at = requested_at - interval '1 minute'`)
    const next = points[i + 1]
    if (next) stands = proxy.hold(next)
    atrium = await start()
  }
  for (const deadline = Date.now() + 60_000; (await state()) !== 'done'; await delay(100))
    assert.ok(Date.now() < deadline, 'the deletion ends')

  const count = async (text: string) =>
    (await queryDatabase<{ n: number }>(database.url, `select (${text})::int as n`, [gone.id]))[0]!.n
  assert.equal(await count('select count(*) from items where tenant_id = $1'), 0)
  assert.equal(await count('select count(*) from collections where tenant_id = $1'), 0)
  assert.equal(await count('select count(*) from api_keys where tenant_id = $1'), 0)
  assert.equal(await count('select count(*) from items where tenant_id <> $1'), 2_500)
  assert.equal(await count(`select count(*) from tenants where id = $1 and name = 'deleted'`), 1)
  assert.equal(await count('select rows_removed >= 2500 from tenant_deletions where tenant_id = $1'), 1)
  assert.equal(await count(`select count(*) from audit_log where tenant_id = $1 and operation = 'eraseTenant'`), 1)
  assert.equal(await count('select count(*) from ledger_transfers where tenant_id = $1 and memo is not null'), 0)
  assert.deepEqual(await ledger(), before, 'the ledger is kept')
  const audit = await call(atrium.origin, 'GET /v1/operator/audit', { operator: true })
  assert.deepEqual([audit.status, audit.data.findings], [200, []])
  assert.equal((await call(atrium.origin, 'GET /v1/tenant', { key: stays.secret })).status, 200)
})
