import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { send } from '#testing/http.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'
import { issuerAccount, platformAccount } from '#features/credits/ledger/movement.ts'
import { clearOf } from '../../../../../tests/support/clear-of.ts'
import { transactionId, type Movement } from '../credits/ledger/movement.ts'
import { postMovements } from '#features/credits/ledger/ledger.ts'
import { collectPastItems, type CountedMeter } from './store.ts'

let api: TestApi
let tenant: TestTenant
before(async () => {
  api = await startTestApi()
})
beforeEach(async () => {
  await clearOf('day')
  tenant = await api.makeTenant()
})
after(() => api.close())

type Row = { period: string; meter: string; quantity: number }
const today = () => new Date().toISOString().slice(0, 10)
const usage = (query = '', key = tenant.secretKey) => send(api, 'GET', `/usage${query}`, { key })
const rows = async (query = '', key = tenant.secretKey): Promise<Row[]> => (await usage(query, key)).body.data

/** Today’s report, by meter. */
const quantities = async (key = tenant.secretKey): Promise<Record<string, number>> =>
  Object.fromEntries((await rows('', key)).map(({ meter, quantity }) => [meter, quantity]))

async function store(day: string, meter: CountedMeter, quantity: number): Promise<void> {
  await api.ctx.db.pool.query('insert into usage_days (tenant_id, day, meter, quantity) values ($1, $2, $3, $4)', [
    tenant.id,
    day,
    meter,
    quantity,
  ])
}

test('requests are counted with the bytes of their bodies and answers, and found in the report at once', async () => {
  const body = { metadata: { name: 'Größe' } }
  const made = await send(api, 'POST', '/collections', { key: tenant.publishableKey, body })
  assert.equal(made.status, 201)
  const read = await send(api, 'GET', '/tenant', { key: tenant.secretKey })
  const missing = await send(api, 'GET', '/collections/col_0000000000000000000000', { key: tenant.publishableKey })
  assert.equal(missing.body.error.code, 'not_found')
  const refused = await send(api, 'POST', '/collections', { key: tenant.publishableKey, body: { typo: 1 } })
  assert.equal(refused.body.error.code, 'invalid_request')
  const bytes = [JSON.stringify(body), made.text, read.text, missing.text, '{"typo":1}', refused.text]
    .map((text) => Buffer.byteLength(text))
    .reduce((sum, length) => sum + length)
  assert.deepEqual(await rows(), [
    { period: today(), meter: 'requests', quantity: 4 },
    { period: today(), meter: 'bytes', quantity: bytes },
  ])
})

test('answers without a body, also to HEAD, count no bytes', async () => {
  const body = { kind: 'publishable' }
  const made = await send(api, 'POST', '/tenant/keys', { key: tenant.secretKey, body })
  const deleted = await send(api, 'DELETE', `/tenant/keys/${made.body.data.id}`, { key: tenant.secretKey })
  assert.equal(deleted.status, 204)
  const authorization = `Bearer ${tenant.secretKey}`
  const head = await fetch(`${api.baseUrl}/tenant`, { method: 'HEAD', headers: { authorization } })
  assert.equal(head.status, 200)
  assert.deepEqual(await quantities(), { requests: 3, bytes: Buffer.byteLength(JSON.stringify(body) + made.text) })
})

test('an item counts once, when it is stored: neither its replay nor a refused item counts', async () => {
  const { publishableKey: key } = tenant
  const made = (await send(api, 'POST', '/collections', { key, body: {} })).body.data
  const path = `/collections/${made.id}/items`
  const body = { type: 'message', content: 'hello' }
  for (let i = 0; i < 3; i++) {
    assert.equal((await send(api, 'POST', path, { key, idempotencyKey: 'once', body })).status, 201)
  }
  assert.equal((await send(api, 'POST', path, { key, body })).status, 201)
  await send(api, 'POST', `/collections/${made.id}/state`, { key, collectionToken: made.admin_token, body: { state: 'closed' } })
  assert.equal((await send(api, 'POST', path, { key, body })).body.error.code, 'collection_not_open')
  assert.equal((await quantities())['items'], 2)
})

test('items of past days are gathered for each tenant, and the report stays the same', async () => {
  const { publishableKey: key } = tenant
  for (let i = 0; i < 3; i++) {
    const made = (await send(api, 'POST', '/collections', { key, body: {} })).body.data
    const body = { type: 'message', content: 'hello' }
    for (let j = 0; j <= i; j++) await send(api, 'POST', `/collections/${made.id}/items`, { key, body })
  }
  assert.equal(await collectPastItems(api.ctx.db, 100), 0, 'today is not over')
  const { rowCount } = await api.ctx.db.pool.query(`update usage_items set day = '2026-01-31' where tenant_id = $1`, [tenant.id])
  assert.equal(rowCount, 3)
  await store('2026-01-31', 'items', 10)
  const report = [{ period: '2026-01-31', meter: 'items', quantity: 16 }]
  const january = '?from=2026-01-01&to=2026-01-31'
  assert.deepEqual(await rows(january), report)
  assert.equal(await collectPastItems(api.ctx.db, 2), 2)
  assert.deepEqual(await rows(january), report)
  assert.equal(await collectPastItems(api.ctx.db, 2), 1)
  assert.deepEqual(await rows(january), report)
})

test('calls without a key or with a wrong one are counted for no tenant', async () => {
  await fetch(`${api.baseUrl}/openapi.json`)
  assert.equal((await send(api, 'GET', '/tenant', { key: `${tenant.secretKey.slice(0, -1)}?` })).status, 401)
  assert.deepEqual(await rows(), [])
})

test('credits are what was captured and paid in fees for the tenant, as the ledger records it', async () => {
  const issuer = issuerAccount(tenant.id)
  const id = (name: string) => transactionId(tenant.id, name)
  const actor = tenant.id
  const hold = {
    type: 'hold' as const,
    from: issuer,
    actor,
    endsAt: new Date(Date.now() + 60_000).toISOString(),
    purpose: 'test',
  }
  const movements: Movement[] = [
    { type: 'transfer', id: id('prefund'), kind: 'prefund', from: platformAccount, to: issuer, amountCredits: 100, actor },
    { type: 'transfer', id: id('fee'), kind: 'fee', from: issuer, to: platformAccount, amountCredits: 5, actor },
    { ...hold, id: id('hold'), amountCredits: 40 },
    {
      type: 'hold_end',
      id: id('hold'),
      from: issuer,
      actor,
      outcome: 'captured',
      capture: { to: platformAccount, amountCredits: 30 },
    },
    { ...hold, id: id('other'), amountCredits: 20 },
    { type: 'hold_end', id: id('other'), from: issuer, actor, outcome: 'released' },
  ]
  for (const movement of movements) {
    assert.deepEqual(await api.ctx.db.transaction((tx) => postMovements(tx, [movement])), ['posted'])
  }
  assert.deepEqual(await rows(), [{ period: today(), meter: 'credits', quantity: 35 }])
})

test('a report includes both its ends, by day or summed by month, in order', async () => {
  await store('2026-02-28', 'requests', 1)
  await store('2026-03-01', 'launches', 2)
  await store('2026-03-01', 'items', 3)
  await store('2026-03-31', 'items', 4)
  await store('2026-04-01', 'items', 5)
  assert.deepEqual(await rows('?from=2026-02-28&to=2026-03-31'), [
    { period: '2026-02-28', meter: 'requests', quantity: 1 },
    { period: '2026-03-01', meter: 'items', quantity: 3 },
    { period: '2026-03-01', meter: 'launches', quantity: 2 },
    { period: '2026-03-31', meter: 'items', quantity: 4 },
  ])
  assert.deepEqual(await rows('?from=2026-03-01&to=2026-04-01&by=month'), [
    { period: '2026-03', meter: 'items', quantity: 7 },
    { period: '2026-03', meter: 'launches', quantity: 2 },
    { period: '2026-04', meter: 'items', quantity: 5 },
  ])
  assert.deepEqual(await rows('?from=2026-03-02&to=2026-03-30'), [])
})

test('a report without dates goes back 29 days from today', async () => {
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)
  await store(daysAgo(29), 'items', 1)
  await store(daysAgo(30), 'items', 1)
  assert.deepEqual(
    (await rows()).map(({ period, meter }) => [period, meter]),
    [[daysAgo(29), 'items']],
  )
})

test('a tenant does not see another tenant’s usage', async () => {
  await store(today(), 'items', 7)
  const other = await api.makeTenant()
  assert.deepEqual(await rows('', other.secretKey), [])
  assert.equal((await quantities())['items'], 7)
})

test('the report requires a secret key', async () => {
  assert.equal((await usage('', tenant.publishableKey)).body.error.code, 'secret_key_required')
})

test('an invalid date, ends in the wrong order or too far apart, and unknown values are refused with the reason', async () => {
  const cases: [string, string][] = [
    ['?from=2026-02-30', '/from'],
    ['?to=2026-13-01', '/to'],
    ['?from=2026-2-1', '/from'],
    ['?from=yesterday', '/from'],
    ['?from=2026-02-01T00:00:00Z', '/from'],
    ['?from=', '/from'],
    ['?from=2026-01-01&from=2026-01-02', '/from'],
    ['?from=0000-01-01&to=0000-01-02', '/from'],
    ['?to=0001-01-01', '/to'],
    ['?from=2026-02-02&to=2026-02-01', '/from'],
    ['?from=2025-01-01&to=2026-01-03', '/from'],
    ['?from=9999-12-31', '/from'],
    ['?by=week', '/by'],
    ['?since=2026-01-01', '/since'],
  ]
  for (const [query, path] of cases) {
    const { status, body } = await usage(query)
    assert.deepEqual([status, body.error?.code], [400, 'invalid_request'], query)
    assert.equal(body.error.details[0].path, path, query)
  }
  assert.equal((await usage('?from=2025-01-01&to=2026-01-02')).status, 200)
  assert.equal((await usage('?from=9999-12-31&to=9999-12-31')).status, 200)
})

test('while the row of a tenant is locked, its reports cost those of others no more than a wait or two', async (t) => {
  const other = await api.makeTenant()
  await usage()
  assert.equal((await quantities())['requests'], 1)
  const blocker = await api.ctx.db.pool.connect()
  try {
    await blocker.query('begin')
    await blocker.query('select from usage_traffic where tenant_id = $1 for update', [tenant.id])
    for (let i = 0; i < 15; i++) assert.equal((await usage()).status, 200)
    const query = t.mock.method(api.ctx.db, 'query')
    assert.equal((await usage('', other.secretKey)).status, 200)
    const writes = query.mock.calls.filter(({ arguments: [{ name }] }) => name === 'usage-add-traffic')
    // The running write and the next one: each waits for the row, and then writes the other counts.
    assert.ok(writes.length > 0 && writes.length <= 4, `${writes.length} statements`)
    await blocker.query('rollback')
  } finally {
    blocker.release(true)
  }
  assert.equal((await quantities())['requests'], 17)
})
