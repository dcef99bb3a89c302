import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { consoleLink, invite, signIn } from '#testing/console.ts'
import { send } from '#testing/http.ts'
import { startTestApi, type TestApi } from '#testing/test-api.ts'

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api.close())

async function openConsole() {
  const tenant = await api.makeTenant()
  return { tenant, owner: await signIn(api, await consoleLink(api, { kind: 'tenant', tenant_id: tenant.id })) }
}
const operator = () => ({ headers: { 'x-admin-token': api.adminToken } })

test('an owner exports the own tenant whole; no key does, and no other role', async () => {
  const { tenant, owner } = await openConsole()
  await send(api, 'POST', '/collections', { key: tenant.secretKey, body: { metadata: { share_title: 'Wall' } } })
  const got = await owner.send('GET', '/tenant/export')
  assert.equal(got.status, 200, got.text)
  const lines = got.text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.equal(lines[0].tenant_id, tenant.id)
  assert.ok(lines.some(({ table, row }) => table === 'collections' && row.metadata.share_title === 'Wall'))
  assert.equal(lines.at(-1).end, true)
  assert.ok(!got.text.includes(tenant.secretKey))
  const { browser: developer } = await invite(api, owner, 'developer')
  assert.equal((await developer.send('GET', '/tenant/export')).body.error.code, 'role_not_allowed')
  const byKey = await send(api, 'GET', '/tenant/export', { key: tenant.secretKey })
  assert.equal(byKey.body.error.code, 'role_not_allowed', byKey.text)
  const { data } = (await owner.send('GET', '/tenant/audit-log')).body
  assert.ok(data.some(({ operation }: { operation: string }) => operation === 'exportOwnTenant'))
})

test('an owner deletes the own tenant: it is suspended at once, nobody is let in, and an operator can cancel', async () => {
  const { tenant, owner } = await openConsole()
  const other = await api.makeTenant()
  const remove = (id: string, by = owner) => by.send('POST', '/tenant/deletion', { tenant_id: id })
  const { browser: developer } = await invite(api, owner, 'developer')
  assert.equal((await remove(tenant.id, developer)).body.error.code, 'role_not_allowed')
  assert.deepEqual([(await remove(other.id)).status, (await remove(other.id)).body.error.code], [400, 'invalid_request'])
  const [first, second] = await Promise.all([remove(tenant.id), remove(tenant.id)])
  const done = [first, second].find(({ status }) => status === 202)
  assert.ok(done, first.text)
  const { state, due_at, requested_at } = done.body.data
  assert.deepEqual([state, Date.parse(due_at) - Date.parse(requested_at)], ['scheduled', 7 * 86_400_000])
  assert.equal((await owner.send('GET', '/tenant')).body.error.code, 'tenant_suspended')
  assert.equal((await send(api, 'GET', '/tenant', { key: tenant.secretKey })).body.error.code, 'tenant_suspended')
  assert.equal((await send(api, 'GET', '/tenant', { key: other.secretKey })).status, 200)
  assert.equal((await send(api, 'DELETE', `/tenants/${tenant.id}/deletion`, operator())).status, 204)
  assert.equal((await owner.send('GET', '/tenant')).status, 200)
})
