import assert from 'node:assert/strict'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { send } from '#testing/http.ts'
import { startTestApi, type TestApi } from '#testing/test-api.ts'

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api.close())

/** Sends the headers now, and the body later. The answer has a code if it is an error. */
async function begin(path: string, key: string) {
  const body = JSON.stringify({ kind: 'secret' })
  const req = request(`${api.baseUrl}${path}`, {
    agent: false,
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'content-length': body.length },
  })
  const answered = new Promise<{ status: number; code: string | undefined }>((resolve, reject) => {
    req.once('error', reject)
    req.once('response', (res) =>
      text(res).then((sent) => resolve({ status: res.statusCode!, code: JSON.parse(sent).error?.code }), reject),
    )
  })
  const isRead = new Promise((resolve) => req.once('socket', (socket) => socket.once('connect', resolve)))
  req.write(body.slice(0, 1))
  await isRead
  return { answered, end: () => req.end(body.slice(1)) }
}

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
