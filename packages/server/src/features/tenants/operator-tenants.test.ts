import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { leastMs } from '#testing/busy-machine.ts'
import { send } from '#testing/http.ts'
import { startTestApi, type TestApi } from '#testing/test-api.ts'

let api: TestApi
let operator: { headers: Record<string, string> }
before(async () => {
  api = await startTestApi()
  operator = { headers: { 'x-admin-token': api.adminToken } }
})
after(() => api.close())

const get = (path: string) => send(api, 'GET', path, operator)
const listed = async (query: string) => {
  const answer = await get(`/tenants?${query}`)
  assert.equal(answer.status, 200, answer.text)
  return answer.body.data.map(({ name }: { name: string }) => name)
}

test('tenants are found by name, e-mail address, beginning of the id and status; LIKE signs match themselves', async () => {
  const { id } = await api.makeTenant('Quay 100%')
  await api.makeTenant('Quay 1000')
  const body = { name: 'Other', email: 'grace@quay.example' }
  const { tenant } = (await send(api, 'POST', '/tenants', { ...operator, body })).body.data
  assert.deepEqual(await listed('q=qUAY'), ['Quay 100%', 'Quay 1000', 'Other'])
  assert.deepEqual(await listed('q=100%25'), ['Quay 100%'])
  assert.deepEqual(await listed(`q=${id.slice(0, 12)}`), ['Quay 100%'])
  await send(api, 'POST', `/tenants/${tenant.id}/status`, { ...operator, body: { status: 'suspended' } })
  assert.deepEqual(await listed('q=quay&status=suspended'), ['Other'])
  const { meta, data } = (await get('/tenants?q=quay&order=newest&limit=2')).body
  assert.deepEqual([data[0].name, data.length], ['Other', 2])
  assert.deepEqual(await listed(`q=quay&order=newest&limit=2&cursor=${meta.next_cursor}`), ['Quay 100%'])
  const wrong = await get(`/tenants?q=other&order=newest&cursor=${meta.next_cursor}`)
  assert.equal(wrong.body.error.code, 'invalid_cursor')
})

test('an operator reads a tenant with its keys, and changes name, address and roles', async () => {
  const { id, secretKey } = await api.makeTenant('Before')
  await send(api, 'GET', '/tenant', { key: secretKey })
  await api.ctx.keyUse.flush()
  const before = (await get(`/tenants/${id}`)).body.data
  assert.equal(before.active_keys, 2)
  assert.match(before.last_used_at, /^20/)
  assert.deepEqual([before.email, before.deletion], [null, null])
  const change = (body: object) => send(api, 'PATCH', `/tenants/${id}`, { ...operator, body })
  const changed = (await change({ name: 'After', email: 'a@b.example', roles: ['app'] })).body.data
  assert.deepEqual([changed.name, changed.email, changed.roles], ['After', 'a@b.example', ['app']])
  assert.deepEqual((await change({ roles: [], email: null })).body.data.roles, ['app', 'issuer'])
  assert.equal((await change({})).body.error.code, 'invalid_request')
  assert.equal((await get('/tenants/ten_0000000000000000000000')).body.error.code, 'not_found')
  await send(api, 'POST', `/tenants/${id}/deletion`, { ...operator, body: {} })
  assert.equal((await get(`/tenants/${id}`)).body.data.deletion.state, 'scheduled')
  assert.equal((await change({ name: 'Late' })).body.error.code, 'state_conflict')
})

test("an operator reads a tenant's usage as the tenant does", async () => {
  const { id, secretKey } = await api.makeTenant('Used')
  await send(api, 'POST', '/collections', { key: secretKey, body: {} })
  const own = (await send(api, 'GET', '/usage', { key: secretKey })).body.data
  const seen = (await get(`/tenants/${id}/usage`)).body.data
  assert.deepEqual(
    seen.map(({ meter }: { meter: string }) => meter),
    own.map(({ meter }: { meter: string }) => meter),
  )
  assert.equal((await get('/tenants/ten_0000000000000000000000/usage')).status, 404)
})

test('invites are listed by state, and a revoked one signs up nobody', async () => {
  const invite = async (body: object) => (await send(api, 'POST', '/tenants/invites', { ...operator, body })).body.data
  const signUp = (code: string) =>
    send(api, 'POST', '/tenants/signup', { body: { invite_code: code, name: 'N', email: 'n@n.example' } })
  const [open, used, late, revoked] = [await invite({ uses: 5 }), await invite({}), await invite({}), await invite({})]
  await signUp(used.invite_code)
  await api.ctx.db.pool.query(`update invites set expires_at = now() - interval '1 s' where id = $1`, [late.id])
  for (const { id } of [revoked, used]) assert.equal((await send(api, 'DELETE', `/tenants/invites/${id}`, operator)).status, 204)
  assert.equal((await signUp(revoked.invite_code)).body.error.code, 'invite_invalid')
  const { data, meta } = (await get('/tenants/invites?limit=3')).body
  const rest = (await get(`/tenants/invites?limit=3&cursor=${meta.next_cursor}`)).body.data
  const states = new Map([...data, ...rest].map(({ id, state }: { id: string; state: string }) => [id, state]))
  assert.deepEqual(
    [open, used, late, revoked].map(({ id }) => states.get(id)),
    ['active', 'used', 'expired', 'revoked'],
  )
  const shown = [...data, ...rest].find(({ id }: { id: string }) => id === open.id)
  assert.deepEqual([shown.uses, shown.uses_left, shown.hint], [5, 5, `inv_…${open.invite_code.slice(-4)}`])
  assert.ok(!JSON.stringify([data, rest]).includes(open.invite_code.slice(4, 30)))
})

test('with 10,000 tenants a page and a search take less than 300 ms', async (t) => {
  await api.ctx.db.pool.query(`insert into tenants (id, name, email, created_at)
    select 'ten_' || lpad(i::text, 22, '0'), 'Many ' || i, 'm' || i || '@many.example', now() - i * interval '1 minute'
    from generate_series(1, 10000) i`)
  for (const query of ['limit=50', 'order=newest', 'q=Many 9999', 'q=nothing like it', 'status=suspended']) {
    const tookMs = await leastMs(300, async () => assert.equal((await get(`/tenants?${query}`)).status, 200))
    t.diagnostic(`${query}: ${Math.round(tookMs)} ms`)
    assert.ok(tookMs < 300, `${query}: ${tookMs} ms`)
  }
})
