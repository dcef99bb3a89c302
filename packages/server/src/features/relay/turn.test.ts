import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { send } from '#testing/http.ts'
import { startTestApi, type TestApi, type TestTenant } from '#testing/test-api.ts'
import { turnCredentials } from './turn-credentials.ts'

const secret = 'a secret shared with the relay'
const urls = ['stun:turn.example.com', 'turn:turn.example.com:3478?transport=udp', 'turns:turn.example.com?transport=tcp']

describe('with a relay', () => {
  let api: TestApi
  let tenant: TestTenant
  before(async () => {
    api = await startTestApi({ turnUrls: urls.join(), turnSecret: secret })
    tenant = await api.makeTenant()
  })
  after(() => api.close())

  const ask = (key?: string) => send(api, 'GET', '/turn', key ? { key } : {})

  test('either kind of key gets credentials for every address, valid for an hour, that no cache stores', async () => {
    for (const key of [tenant.publishableKey, tenant.secretKey]) {
      const earliest = Math.floor(Date.now() / 1_000)
      const { status, body, headers } = await ask(key)
      const latest = Math.floor(Date.now() / 1_000)
      assert.equal(status, 200)
      const expiry = Date.parse(body.data.expires_at)
      assert.ok(expiry / 1_000 >= earliest + 3_600 && expiry / 1_000 <= latest + 3_600, body.data.expires_at)
      const { username, credential } = turnCredentials(secret, tenant.id, expiry - 3_600_000)
      assert.deepEqual(body.data, {
        iceServers: [{ urls, username, credential }],
        ttl: 3_600,
        expires_at: new Date(expiry).toISOString(),
      })
      assert.equal(headers.get('cache-control'), 'no-store')
    }
  })

  test('the secret itself is in no answer', async () => {
    const { text } = await ask(tenant.publishableKey)
    assert.ok(!text.includes(secret) && !text.includes(Buffer.from(secret).toString('base64').slice(0, 20)))
  })

  test('another tenant gets other credentials', async () => {
    const [own, other] = await Promise.all([ask(tenant.publishableKey), ask((await api.makeTenant()).publishableKey)])
    const [a, b] = [own.body.data.iceServers[0], other.body.data.iceServers[0]]
    assert.notEqual(a.username, b.username)
    assert.notEqual(a.credential, b.credential)
  })

  test('a call without a key is refused', async () => {
    const { status, body } = await ask()
    assert.deepEqual([status, body.error.code], [401, 'unauthorized'])
  })

  test('a page of another origin may request them, since RTCPeerConnection runs there', async () => {
    const { status, headers } = await send(api, 'GET', '/turn', {
      key: tenant.publishableKey,
      headers: { origin: 'https://app.example', 'sec-fetch-site': 'cross-site' },
    })
    assert.equal(status, 200)
    assert.equal(headers.get('access-control-allow-origin'), '*')
  })
})

test('without a relay the operation is unavailable, longer than clients wait, and the message names the settings', async (t) => {
  const api = await startTestApi()
  t.after(() => api.close())
  const { publishableKey: key } = await api.makeTenant()
  const { status, body, headers } = await send(api, 'GET', '/turn', { key })
  assert.deepEqual([status, body.error.code, headers.get('retry-after')], [503, 'unavailable', '3600'])
  assert.match(body.error.message, /TURN_URLS and TURN_SECRET/)
  assert.equal(headers.get('cache-control'), 'no-store')
})
