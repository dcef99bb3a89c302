import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { send } from '#testing/http.ts'
import { beginSlowly } from '#testing/slow-request.ts'
import { startTestApi, type TestApi } from '#testing/test-api.ts'

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api.close())

const begin = (path: string, key: string) => beginSlowly(`${api.baseUrl}${path}`, key, { kind: 'secret' })

test('a key that is revoked while the body of its request arrives makes no new key', async () => {
  const { id: tenantId, secretKey: key } = await api.makeTenant()
  const { id, key: leaked } = (await send(api, 'POST', '/tenant/keys', { key, body: { kind: 'secret' } })).body.data
  const [revoked, valid] = [await begin('/tenant/keys', leaked), await begin('/tenant/keys', key)]
  assert.equal((await send(api, 'GET', '/tenant', { key: leaked })).status, 200)
  assert.equal((await send(api, 'DELETE', `/tenant/keys/${id}`, { key })).status, 204)
  // A body that arrives within a second is slow for no client.
  await delay(1_100)
  for (const { end } of [revoked, valid]) end()
  assert.deepEqual(await revoked.answered, { status: 401, code: 'unauthorized' })
  assert.deepEqual(await valid.answered, { status: 201, code: undefined })

  const suspended = await begin('/tenant/keys', key)
  const headers = { 'x-admin-token': api.adminToken }
  assert.equal((await send(api, 'POST', `/tenants/${tenantId}/status`, { headers, body: { status: 'suspended' } })).status, 200)
  await delay(1_100)
  suspended.end()
  assert.deepEqual(await suspended.answered, { status: 401, code: 'tenant_suspended' })
})
