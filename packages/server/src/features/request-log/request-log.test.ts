import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { makeTimedId } from '@atrium/contract/tokens'
import { Registry } from 'prom-client'
import type { Db } from '#db/database.ts'
import { TenantShards } from '#features/distribution/tenant-shards.ts'
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

const hourMs = 3_600_000
const noted = (tenant: TestTenant, at: number, more: Partial<LoggedRequest> = {}): LoggedRequest => ({
  tenantId: tenant.id,
  requestId: makeTimedId('request', at, randomBytes),
  at,
  method: 'GET',
  path: '/tenant',
  status: 200,
  code: null,
  keyId: 'key_x',
  durationMs: 1,
  origin: null,
  ...more,
})
const note = async (entries: LoggedRequest[]) => {
  for (const [n, entry] of entries.entries()) {
    api.ctx.requestLog.note(entry)
    if (n % 5_000 === 4_999) await api.ctx.requestLog.flush()
  }
  await api.ctx.requestLog.flush()
}
/** The start of the hour that began so many hours ago. A test takes it once: the hour may change while it runs. */
const hourAgo = (hours: number) => (Math.floor(Date.now() / hourMs) - hours) * hourMs
/** What the summary says of the hour that starts then. */
const bucketAt = (buckets: { at: string }[], startMs: number) =>
  buckets.find(({ at }) => Date.parse(at) === startMs) as { at: string; [count: string]: unknown }
/** What the release before the chunks wrote. */
const noteRows = async (tenant: TestTenant, startMs: number, count: number) =>
  query(
    `insert into request_log (tenant_id, request_id, created_at, method, path, status, key_id, duration_ms)
     select $1, 'req_' || lpad(n::text, 22, '0'), $3::timestamptz + n * interval '1 second',
       'GET', '/tenant', case when n <= 3 then 500 when n <= 5 then 404 else 200 end, 'key_x', n from generate_series(1, $2::integer) n`,
    [tenant.id, count, new Date(startMs).toISOString()],
  )

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
  const rows = JSON.stringify(await query('select to_jsonb(r)::text as row from request_log_chunks r'))
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
  assert.deepEqual(await of('path=/tenant/keys&status=errors'), [400])
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
  for (const wrong of ['status=600', 'status=4x', 'status=error', 'method=TRACE', 'request_id=1'])
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
  const start = hourAgo(5)
  await note(
    Array.from({ length: 100 }, (_, n) =>
      noted(tenant, start + n * 1_000, { durationMs: n + 1, status: n < 3 ? 500 : n < 5 ? 404 : 200 }),
    ),
  )
  const { enabled, sampled, buckets } = await summary()
  assert.deepEqual([enabled, sampled, buckets.length], [true, true, 48])
  const { at, p95_ms: ms, ...old } = bucketAt(buckets, start)
  assert.deepEqual(old, { requests: 100, refused: 2, failed: 3 })
  // Two minutes, of which each has a sample of eight.
  assert.ok(Number(ms) >= 80 && Number(ms) <= 100, `${ms}`)
  // The hour may have changed since it was noted.
  assert.ok([41, 42].includes(buckets.findIndex((bucket: { at: string }) => bucket.at === at)))
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

test('a long log is counted exactly, and its 95th percentile comes from a sample', async () => {
  const tenant = await api.makeTenant()
  const start = hourAgo(1)
  await note(
    Array.from({ length: 15_000 }, (_, n) =>
      noted(tenant, start - (n % 40) * hourMs + Math.floor(n / 40) * 3_000, {
        durationMs: (n * 37) % 100,
        status: n % 5_000 === 7 ? 503 : 200,
      }),
    ),
  )
  const { sampled, buckets } = (await send(api, 'GET', '/tenant/requests/summary', { key: tenant.secretKey })).body.data
  assert.equal(sampled, true)
  const counted = buckets.filter(({ requests }: { requests: number }) => requests > 0)
  assert.deepEqual(
    counted.slice(0, 40).map(({ requests }: { requests: number }) => requests),
    Array.from({ length: 40 }, () => 375),
  )
  assert.equal(
    buckets.reduce((total: number, { failed }: { failed: number }) => total + failed, 0),
    3,
  )
  for (const { p95_ms: ms } of counted.slice(0, 40)) assert.ok(ms >= 80 && ms <= 99, `${ms}`)
})

test('pages of overlapping chunks follow each other without a gap, with and without a filter', async () => {
  const tenant = await api.makeTenant()
  const start = hourAgo(2)
  // Two processes, whose chunks overlap; many entries of one millisecond; one rare path.
  const entries = Array.from({ length: 1_200 }, (_, n) =>
    noted(tenant, start + Math.floor(n / 7) * 40, {
      path: n % 300 === 5 ? '/catalog' : '/tenant',
      status: n % 100 === 0 ? 404 : 200,
    }),
  )
  await note(entries.filter((_, n) => n % 2 === 0))
  await note(entries.filter((_, n) => n % 2 === 1))
  const newestFirst = entries
    .toSorted((a, b) => b.at - a.at || (a.requestId < b.requestId ? 1 : -1))
    .filter(({ requestId }) => requestId !== '')
  const allOf = async (filter: string, limit: number) => {
    const ids: string[] = []
    let cursor: string | undefined
    do {
      const { body } = await list(tenant, `${filter}&limit=${limit}${cursor ? `&cursor=${cursor}` : ''}`)
      ids.push(...body.data.map(({ request_id: id }: { request_id: string }) => id))
      cursor = body.meta?.next_cursor
    } while (cursor)
    return ids
  }
  const idsOf = (matches: (entry: LoggedRequest) => boolean) => newestFirst.filter(matches).map(({ requestId }) => requestId)
  const of = `to=${new Date(start + hourMs).toISOString()}`
  assert.deepEqual(
    await allOf(of, 100),
    idsOf(() => true),
  )
  assert.deepEqual(
    await allOf(`${of}&path=/catalog`, 3),
    idsOf(({ path }) => path === '/catalog'),
  )
  assert.deepEqual(
    await allOf(`${of}&status=4xx`, 5),
    idsOf(({ status }) => status === 404),
  )
  for (const { requestId } of [entries[0]!, entries[777]!, entries.at(-1)!]) {
    const [entry, ...others] = await found(tenant, `request_id=${requestId}`)
    assert.deepEqual([entry.request_id, others], [requestId, []])
  }
  assert.deepEqual(await found(tenant, `request_id=${makeTimedId('request', start, randomBytes)}`), [])
})

test('entries of the release before the chunks are listed, found and counted', async () => {
  const tenant = await api.makeTenant()
  const start = hourAgo(5)
  await noteRows(tenant, start, 100)
  await note([noted(tenant, start + 50_500)])
  const all = await found(tenant, 'limit=100&from=2000-01-01T00:00:00.000Z')
  const times = all.map(({ created_at: at }: { created_at: string }) => at)
  assert.equal(new Set(all.map(({ request_id: id }: { request_id: string }) => id)).size, 100)
  assert.deepEqual(times, times.toSorted().toReversed())
  const [old, ...others] = await found(tenant, `request_id=req_${'2'.padStart(22, '0')}`)
  assert.deepEqual([old.status, others], [500, []])
  const { buckets } = (await send(api, 'GET', '/tenant/requests/summary', { key: tenant.secretKey })).body.data
  const { at: _, p95_ms: ms, ...counts } = bucketAt(buckets, start)
  assert.deepEqual(counts, { requests: 101, refused: 2, failed: 3 })
  assert.ok(Number(ms) >= 90 && Number(ms) <= 96, `${ms}`)
})

test('a member reads the log in the console, and is not in it', async () => {
  const tenant = await api.makeTenant()
  const browser = await signIn(api, await consoleLink(api, { kind: 'tenant', tenant_id: tenant.id }))
  assert.equal((await browser.send('GET', '/tenant')).status, 200)
  const read = await browser.send('GET', '/tenant/requests')
  assert.deepEqual([read.status, read.body.data], [200, []])
})

test('entries older than the retention are not shown, and chunks whose answer was lost are there once', async () => {
  const tenant = await api.makeTenant()
  await note([noted(tenant, Date.now() - 8 * 24 * hourMs)])
  assert.deepEqual(await found(tenant, 'path=/tenant'), [])
  let lost = 0
  const losing = Object.create(api.ctx.db) as Db
  losing.query = async (...args) => {
    const rows = await api.ctx.db.query(...args)
    if (lost++ === 0) throw new Error('connection cut')
    return rows
  }
  const log = new RequestLog({
    db: losing,
    tenantShards: new TenantShards(),
    registry: new Registry(),
    days: 7,
    onError: () => {},
  })
  const start = hourAgo(1)
  for (let n = 0; n < 300; n++) log.note(noted(tenant, start + n))
  await log.flush()
  log.note(noted(tenant, start + 300))
  await log.close()
  // The second statement has the chunks of the first one again, and the new one.
  assert.equal(lost, 2)
  const { buckets } = (await send(api, 'GET', '/tenant/requests/summary', { key: tenant.secretKey })).body.data
  assert.equal(bucketAt(buckets, start)['requests'], 301)
})
