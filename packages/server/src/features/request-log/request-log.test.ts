import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Registry } from 'prom-client'
import type { Db } from '#db/database.ts'
import { consoleLink, signIn } from '#testing/console.ts'
import { send } from '#testing/http.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'
import { RequestLog } from './request-log.ts'
import type { LoggedRequest } from './store.ts'

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api.close())

const query = async (sql: string, values: unknown[] = []) => (await api.ctx.db.pool.query(sql, values)).rows
const list = async ({ secretKey: key }: TestTenant, more = '') =>
  send(api, 'GET', `/tenant/requests${more && `?${more}`}`, { key })
const found = async (tenant: TestTenant, more: string) => (await list(tenant, more)).body.data

test('a failed request is found by the id that its caller saw, without its content', async () => {
  const tenant = await api.makeTenant()
  const canary = 'canary-4711'
  const missing = `/collections/col_${'a'.repeat(22)}?token=${canary}`
  const headers = { origin: 'https://app.example', referer: `https://app.example/${canary}`, 'x-collection-token': canary }
  const refused = await send(api, 'PATCH', missing, { key: tenant.secretKey, headers, body: { share_title: canary } })
  const requestId = refused.headers.get('x-request-id')
  const { doc_url } = refused.body.error
  const [entry, ...others] = await found(tenant, `request_id=${requestId}`)
  const keys = (await send(api, 'GET', '/tenant/keys', { key: tenant.secretKey })).body.data
  const key = keys.find(({ kind }: { kind: string }) => kind === 'secret')
  assert.deepEqual(others, [])
  const { created_at: at, duration_ms: ms, ...rest } = entry
  assert.ok(Math.abs(Date.parse(at) - Date.now()) < 60_000)
  assert.ok(ms > 0)
  assert.deepEqual(rest, {
    request_id: requestId,
    method: 'PATCH',
    path: '/collections/{id}',
    status: refused.status,
    code: refused.body.error.code,
    doc_url,
    key_id: key.id,
    key_hint: key.hint,
    origin: 'https://app.example',
  })
  const rows = JSON.stringify(await query('select to_jsonb(r)::text as row from request_log r'))
  for (const secret of [canary, 'aaaaaaaa', tenant.secretKey, '127.0.0.1']) assert.ok(!rows.includes(secret), secret)
})

test('filters combine; a tenant sees only its own; pages follow each other without a gap', async () => {
  const [tenant, other] = [await api.makeTenant(), await api.makeTenant()]
  const start = new Date().toISOString()
  for (let n = 0; n < 3; n++) await send(api, 'POST', '/tenant/keys', { key: tenant.secretKey, body: { kind: 'publishable' } })
  await send(api, 'POST', '/tenant/keys', { key: tenant.secretKey, body: { kind: 'none' } })
  await send(api, 'GET', '/catalog', { key: tenant.publishableKey })
  const of = async (more: string) => (await found(tenant, more)).map(({ status }: { status: number }) => status)
  assert.deepEqual(await of('path=/tenant/keys&method=POST'), [400, 201, 201, 201])
  assert.deepEqual(await of('path=/tenant/keys&status=4xx'), [400])
  assert.deepEqual(await of('status=400'), [400])
  assert.deepEqual(await of('status=5xx'), [])
  assert.deepEqual(await of(`from=${start}&status=201&limit=2`), [201, 201])
  assert.deepEqual(await of(`to=${start}`), [])
  const hint = tenant.publishableKey.slice(-4)
  const ofKey = await found(tenant, `key_hint=${hint}`)
  assert.ok(ofKey.length > 0 && ofKey.every((entry: { key_hint: string }) => entry.key_hint.endsWith(hint)))
  assert.deepEqual(await found(other, 'path=/tenant/keys'), [])
  const ids: string[] = []
  let cursor: string | undefined
  do {
    const { body } = await list(tenant, `path=/tenant/keys&limit=2${cursor ? `&cursor=${cursor}` : ''}`)
    ids.push(...body.data.map(({ request_id: id }: { request_id: string }) => id))
    cursor = body.meta?.next_cursor
  } while (cursor)
  assert.deepEqual([ids.length, new Set(ids).size], [4, 4])
  for (const wrong of ['status=600', 'status=4x', 'method=TRACE', 'request_id=1'])
    assert.equal((await list(tenant, wrong)).status, 400)
})

test('a tenant switches its log off and on; an Origin that no browser sends is not stored', async () => {
  const tenant = await api.makeTenant()
  const { secretKey: key } = tenant
  const headers = { origin: 'https://user:secret@app.example' }
  await send(api, 'GET', '/tenant', { key, headers })
  assert.deepEqual((await found(tenant, 'path=/tenant'))[0].origin, null)
  const change = (enabled: boolean) => send(api, 'PUT', '/tenant/requests/settings', { key, body: { enabled } })
  assert.deepEqual((await change(false)).body.data, { enabled: false, days: 7 })
  api.ctx.keyCache.forgetAll()
  await send(api, 'GET', '/tenant', { key })
  assert.equal((await found(tenant, 'path=/tenant')).length, 1)
  assert.deepEqual((await send(api, 'GET', '/tenant/requests/settings', { key })).body.data, { enabled: false, days: 7 })
  await change(true)
  api.ctx.keyCache.forgetAll()
  await send(api, 'GET', '/tenant', { key })
  assert.equal((await found(tenant, 'path=/tenant')).length, 2)
})

test('the summary counts what the list shows, by hour and by day', async () => {
  const [tenant, other] = [await api.makeTenant(), await api.makeTenant()]
  const { secretKey: key } = tenant
  const summary = async (more = '') => (await send(api, 'GET', `/tenant/requests/summary${more}`, { key })).body.data
  assert.deepEqual(
    (await summary()).buckets.map(({ requests }: { requests: number }) => requests),
    Array.from({ length: 48 }, () => 0),
  )
  await send(api, 'GET', '/tenant', { key: other.secretKey })
  await send(api, 'POST', '/tenant/keys', { key, body: { kind: 'none' } })
  await query(
    `insert into request_log (tenant_id, request_id, created_at, method, path, status, key_id, duration_ms)
     select $1, 'req_' || lpad(n::text, 22, '0'), date_trunc('hour', now()) - interval '5 hours' + n * interval '1 second',
       'GET', '/tenant', case when n <= 3 then 500 when n <= 5 then 404 else 200 end, 'key_x', n from generate_series(1, 100) n`,
    [tenant.id],
  )
  const { enabled, sampled, buckets } = await summary()
  assert.deepEqual([enabled, sampled, buckets.length], [true, false, 48])
  const { at, ...old } = buckets[42]
  assert.deepEqual(old, { requests: 100, refused: 2, failed: 3, p95_ms: 95 })
  assert.equal(Date.parse(at) % 3_600_000, 0)
  // The first summary and the refused key; a change of the hour may be between them.
  const recent = buckets.slice(-2).reduce((sum: number, { requests }: { requests: number }) => sum + requests, 0)
  assert.equal(recent, 2)
  const { buckets: days } = await summary('?by=day')
  assert.equal(days.length, 7)
  assert.equal(
    days.reduce((sum: number, { requests }: { requests: number }) => sum + requests, 0),
    103,
  )
  assert.equal((await send(api, 'GET', '/tenant/requests/summary?by=week', { key })).status, 400)
})

test('a long log is summarised from a random sample, with every error counted', async () => {
  const tenant = await api.makeTenant()
  await query(
    `insert into request_log (tenant_id, request_id, created_at, method, path, status, key_id, duration_ms)
     select $1, 'req_' || left(translate(encode(sha256(n::text::bytea), 'base64'), '+/=', 'abc'), 22),
       date_trunc('hour', now()) - interval '1 hour' * (n % 40 + 1), 'GET', '/tenant',
       case when n % 5000 = 7 then 503 else 200 end, 'key_x', n % 100 from generate_series(1, 15000) n`,
    [tenant.id],
  )
  const { sampled, buckets } = (await send(api, 'GET', '/tenant/requests/summary', { key: tenant.secretKey })).body.data
  const sum = (of: string) => buckets.reduce((total: number, bucket: Record<string, number>) => total + bucket[of]!, 0)
  assert.equal(sampled, true)
  assert.ok(Math.abs(sum('requests') - 15_000) < 1_000, `${sum('requests')}`)
  assert.equal(sum('failed'), 3)
  // Each hour has 375, of which about 250 are in the sample.
  const hours = buckets.filter(({ requests }: { requests: number }) => requests > 0)
  for (const { requests, p95_ms: ms } of hours) assert.ok(Math.abs(requests - 375) < 120 && ms >= 60, `${requests} ${ms}`)
})

test('a member reads the log in the console, and is not in it', async () => {
  const tenant = await api.makeTenant()
  const browser = await signIn(api, await consoleLink(api, { kind: 'tenant', tenant_id: tenant.id }))
  assert.equal((await browser.send('GET', '/tenant')).status, 200)
  const read = await browser.send('GET', '/tenant/requests')
  assert.deepEqual([read.status, read.body.data], [200, []])
})

test('entries older than the retention are not shown, and a batch that is sent twice adds nothing', async () => {
  const tenant = await api.makeTenant()
  await send(api, 'GET', '/tenant', { key: tenant.secretKey })
  const [entry] = await found(tenant, 'path=/tenant')
  api.ctx.requestLog.note({
    tenantId: tenant.id,
    requestId: entry.request_id,
    createdAt: entry.created_at,
    method: 'GET',
    path: '/tenant',
    status: 500,
    code: null,
    keyId: entry.key_id,
    durationMs: 1,
    origin: null,
  })
  assert.deepEqual(await found(tenant, 'path=/tenant'), [entry])
  await query(`update request_log set created_at = now() - interval '8 days' where tenant_id = $1`, [tenant.id])
  assert.deepEqual(await found(tenant, 'path=/tenant'), [])
})

test('what is over the bound is dropped and counted, and a failed batch is written later', async () => {
  const state = { fails: true, written: 0 }
  const db = {
    query: async (_: unknown, [ids]: [string[]]) => {
      if (state.fails) throw new Error('database away')
      state.written += ids.length
      return []
    },
  } as unknown as Db
  const registry = new Registry()
  const errors: unknown[] = []
  const log = new RequestLog({ db, registry, days: 7, onError: (error) => errors.push(error) })
  for (let n = 0; n < 10_005; n++) log.note({} as LoggedRequest)
  await log.flush()
  const metric = async (name: string) => (await registry.getSingleMetric(name)!.get()).values[0]!.value
  assert.deepEqual([errors.length, await metric('atrium_request_log_failures_total')], [1, 1])
  assert.equal(await metric('atrium_request_log_dropped_total'), 5)
  state.fails = false
  await log.close()
  assert.equal(state.written, 10_000)
})
