import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { send } from '#testing/http.ts'
import { startTestApi, type TestApi } from '#testing/test-api.ts'
import { eraseTenants } from './erase-tenants.ts'

let api: TestApi
let operator: { headers: Record<string, string> }
before(async () => {
  api = await startTestApi()
  operator = { headers: { 'x-admin-token': api.adminToken } }
})
after(() => api.close())

const exportOf = async (id: string, query = '') => {
  const answer = await send(api, 'GET', `/tenants/${id}/export${query}`, operator)
  assert.equal(answer.status, 200, answer.text)
  const lines = answer.text.trim().split('\n')
  return { text: answer.text, lines: lines.map((line) => JSON.parse(line)) }
}

test('an export has every row, opens the access lists, and has no secret; it ends with the number of rows', async () => {
  const [tenant, other] = [await api.makeTenant('Exports'), await api.makeTenant('Other')]
  const { secretKey: key } = tenant
  const secret = `sk-${randomBytes(12).toString('hex')}`
  await send(api, 'PUT', '/tenant/provider-keys', { key, body: { openai: secret } })
  const hook = (await send(api, 'PUT', '/tenant/webhooks', { key, body: { url: 'https://hooks.example/in' } })).body.data
  const made = (await send(api, 'POST', '/collections', { key, body: { metadata: { share_title: 'Wall' } } })).body.data
  await send(api, 'POST', '/collections', { key: other.secretKey, body: { metadata: { share_title: 'not mine' } } })
  const owner = { key, collectionToken: made.admin_token }
  const items = `/collections/${made.id}/items`
  const { id } = (await send(api, 'POST', items, { ...owner, body: { type: 'message', content: { n: 1 } } })).body.data
  await send(api, 'PATCH', `${items}/${id}`, { ...owner, body: { access: 'email', grant: ['ada@harbour.example'] } })
  // More than two pages.
  await api.ctx.db.pool.query(
    `insert into items (tenant_id, collection_id, id, seq, type, content)
     select $1, $2, 'itm_' || n, n, 'message', '{"big": 12345678901234567890}' from generate_series(2, 500) n`,
    [tenant.id, made.id],
  )
  const { text, lines } = await exportOf(tenant.id)
  assert.deepEqual([lines[0].format, lines[0].version, lines[0].tenant_id], ['atrium.tenant', 1, tenant.id])
  const rowsOf = (table: string) => lines.filter((line) => line.table === table)
  assert.equal(rowsOf('items').length, 500)
  assert.equal(new Set(rowsOf('items').map(({ row }) => row.id)).size, 500)
  assert.deepEqual(rowsOf('items').find(({ row }) => row.id === id)?.access_list, [
    { email: 'ada@harbour.example', status: 'listed' },
  ])
  assert.ok(text.includes('12345678901234567890'), 'numbers are not rounded')
  assert.equal(rowsOf('collections').length, 1)
  assert.equal(rowsOf('api_keys').length, 2)
  assert.equal(rowsOf('provider_keys')[0]?.row.provider, 'openai')
  assert.ok(rowsOf('audit_log').some(({ row }) => row.operation === 'setWebhook'))
  const end = lines.at(-1)
  assert.deepEqual([end.end, end.rows], [true, lines.filter(({ table }) => table !== undefined).length])
  for (const no of [key, secret, hook.secret, made.admin_token, 'not mine', '_hash"', '_sealed"'])
    assert.ok(!text.includes(no), no)
})

test('with blobs, the stored originals come in pieces that give the same bytes', async () => {
  const tenant = await api.makeTenant()
  const bytes = randomBytes(200_000)
  const place = `${tenant.id}/col_${randomUUID().slice(0, 8)}/art_1/original`
  await api.ctx.blobs.write(place, bytes, { mime: 'image/png' })
  const { lines } = await exportOf(tenant.id, '?blobs=true')
  const pieces = lines.flatMap(({ blob }) => (blob ? [blob] : []))
  assert.ok(pieces.every(({ key }) => key === place))
  assert.deepEqual(Buffer.concat(pieces.map(({ base64 }) => Buffer.from(base64, 'base64'))), bytes)
  assert.equal(lines.at(-1).blobs, 1)
  assert.equal((await exportOf(tenant.id)).lines.at(-1).blobs, 0)
})

test('every export leaves an entry in the audit log', async () => {
  const tenant = await api.makeTenant()
  await exportOf(tenant.id)
  const [entry] = (await send(api, 'GET', `/operator/audit-log?tenant_id=${tenant.id}`, operator)).body.data
  assert.deepEqual([entry.operation, entry.outcome], ['exportTenant', 'done'])
})

test('once the removal of a tenant has begun, its export is refused, and an export that is running is cut', async () => {
  const tenant = await api.makeTenant()
  const { id } = (await send(api, 'POST', '/collections', { key: tenant.secretKey, body: {} })).body.data
  await api.ctx.db.pool.query(
    `insert into items (tenant_id, collection_id, id, seq, type, content)
     select $1, $2, 'itm_' || n, n, 'message', json_build_object('text', repeat('x', 10000)) from generate_series(1, 2000) n`,
    [tenant.id, id],
  )
  // The answer is not read yet, so most of it is still in the server.
  const path = `/tenants/${tenant.id}/export`
  const begun = await fetch(`${api.baseUrl}${path}`, { headers: operator.headers })
  await send(api, 'POST', `/tenants/${tenant.id}/deletion`, { ...operator, body: { after_days: 0 } })
  await eraseTenants(api.ctx)
  await assert.rejects(begun.text(), 'it is cut')
  assert.equal((await send(api, 'GET', path, operator)).body.error?.code, 'state_conflict')
  await api.ctx.db.pool.query('update tenant_deletions set finished_at = now() where tenant_id = $1', [tenant.id])
  assert.equal((await exportOf(tenant.id)).lines.at(-1).end, true)
})

test('exports whose caller goes away end, and leave their places to others', async () => {
  const tenant = await api.makeTenant()
  const { id } = (await send(api, 'POST', '/collections', { key: tenant.secretKey, body: {} })).body.data
  // Far more than what sockets buffer, so that the export is not complete when the caller leaves.
  await api.ctx.db.pool.query(
    `insert into items (tenant_id, collection_id, id, seq, type, content)
     select $1, $2, 'itm_' || n, n, 'message', json_build_object('text', repeat('x', 10000)) from generate_series(1, 2000) n`,
    [tenant.id, id],
  )
  // More than may be open at the same time.
  for (let i = 0; i < 10; i++) {
    const cut = new AbortController()
    const answer = await fetch(`${api.baseUrl}/tenants/${tenant.id}/export`, { headers: operator.headers, signal: cut.signal })
    if (answer.status === 200) await answer.body!.getReader().read()
    cut.abort()
  }
  for (const deadline = Date.now() + 10_000; ;) {
    const { status, text } = await send(api, 'GET', `/tenants/${tenant.id}/export`, operator)
    if (status === 200) {
      assert.equal(JSON.parse(text.trim().split('\n').at(-1)!).end, true)
      break
    }
    assert.deepEqual([status, Date.now() < deadline], [429, true], text.slice(0, 300))
  }
  const { rows } = await api.ctx.db.pool.query(
    `select count(*)::int as open from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`,
  )
  assert.deepEqual(rows, [{ open: 0 }])
})
