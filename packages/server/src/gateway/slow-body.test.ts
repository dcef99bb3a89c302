import assert from 'node:assert/strict'
import { after, before, test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { send } from '#testing/http.ts'
import { beginSlowly, type SlowRequest } from '#testing/slow-request.ts'
import { startTestApi, type TestApi } from '#testing/test-api.ts'

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api.close())

/** Resolves once the server has authenticated the request. */
async function begin(t: TestContext, path: string, key: string): Promise<SlowRequest> {
  const { keyCache } = api.ctx
  const resolve = keyCache.resolve.bind(keyCache)
  const found = Promise.withResolvers<unknown>()
  const mocked = t.mock.method(keyCache, 'resolve', (hash: string) => {
    const resolved = resolve(hash)
    found.resolve(resolved)
    return resolved
  })
  const slow = await beginSlowly(`${api.baseUrl}${path}`, key, { kind: 'secret' })
  assert.ok(await found.promise)
  mocked.mock.restore()
  return slow
}

test('a key that is revoked while the body of its request arrives makes no new key', async (t) => {
  const { id: tenantId, secretKey: key } = await api.makeTenant()
  const { id, key: leaked } = (await send(api, 'POST', '/tenant/keys', { key, body: { kind: 'secret' } })).body.data
  const [revoked, valid] = [await begin(t, '/tenant/keys', leaked), await begin(t, '/tenant/keys', key)]
  assert.equal((await send(api, 'DELETE', `/tenant/keys/${id}`, { key })).status, 204)
  // A body that arrives within a second is slow for no client.
  await delay(1_100)
  for (const { end } of [revoked, valid]) end()
  assert.deepEqual(await revoked.answered, { status: 401, code: 'unauthorized' })
  assert.deepEqual(await valid.answered, { status: 201, code: undefined })

  const suspended = await begin(t, '/tenant/keys', key)
  const headers = { 'x-admin-token': api.adminToken }
  assert.equal((await send(api, 'POST', `/tenants/${tenantId}/status`, { headers, body: { status: 'suspended' } })).status, 200)
  await delay(1_100)
  suspended.end()
  assert.deepEqual(await suspended.answered, { status: 401, code: 'tenant_suspended' })
})
