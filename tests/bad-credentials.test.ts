import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { after, before, test } from 'node:test'
import { assertRefused } from './support/assert-refused.ts'
import { askGood, call, makeTenant, type TestTenant } from './support/call-api.ts'
import type { Shelf } from './support/matrix-world.ts'
import { openShelfWorld, type ShelfWorld } from './support/shelf-world.ts'

let world: ShelfWorld
let origin: string
let tenant: TestTenant
let shelf: Shelf
before(async () => {
  world = await openShelfWorld()
  ;({ origin, tenant, shelf } = world)
})
after(() => world.close())

test('a token of another length, or of bytes that are no text, is just wrong', async () => {
  const lengths = [0, 1, 2, 3, 4, 5, 39, 40, 41, 63, 64, 65, 255, 256, 4_096, 7_000]
  const odd = [
    '\u00e9',
    '\u00ff'.repeat(40),
    Buffer.from('\u{1f600}'.repeat(10)).toString('latin1'),
    '\t',
    'a, b',
    'null',
    '[object Object]',
    '"',
    '%00',
  ]
  const tokens = [...lengths.flatMap((length) => ['x'.repeat(length), '\u00e9'.repeat(length)]), ...odd]
  const path = `/v1/collections/${shelf.things.collection}`
  for (const token of tokens) {
    const what = JSON.stringify(token.slice(0, 50))
    assertRefused(
      await call(origin, 'POST /v1/tenants/invites', { headers: { 'x-admin-token': token }, body: {} }),
      'unauthorized',
      what,
    )
    assertRefused(await call(origin, `GET ${path}/items`, { key: tenant.publishable, token }), 'owner_token_required', what)
    assertRefused(await call(origin, 'GET /v1/tenant', { headers: { 'x-api-key': token } }), 'unauthorized', what)
    for (const authorization of [token, `Bearer ${token}`, `Basic ${token}`, `Bearer  ${token}`, `${token} Bearer`]) {
      assertRefused(await call(origin, 'GET /v1/tenant', { headers: { authorization } }), 'unauthorized', what)
    }
  }
})

test('on one connection, each request is who its own key says', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const other = await makeTenant(origin)
  const nameOf = async (key: string) => {
    const { code, data } = await call(origin, 'GET /v1/tenant', { key, agent })
    return code ?? data.id
  }
  const ids = [tenant.id, other.id]
  const asked = [tenant.secret, tenant.secret, other.secret, tenant.publishable, `${tenant.secret.slice(0, -1)}~`, tenant.secret]
  const names: unknown[] = []
  for (const key of asked) names.push(await nameOf(key))
  assert.deepEqual(names, [ids[0], ids[0], ids[1], 'secret_key_required', 'unauthorized', ids[0]])
  const inBrowser = { key: tenant.secret, agent, headers: { 'sec-fetch-site': 'same-origin' } }
  assertRefused(await call(origin, 'GET /v1/tenant', inBrowser), 'secret_key_in_browser', 'after the same key without a browser')
  agent.destroy()
})

test('every kind of invalid identity is rejected', async () => {
  const { things, owner: token } = shelf
  const path = `/v1/collections/${things.collection}/items/${things.item}`
  await askGood(origin, `PATCH ${path}`, { key: tenant.secret, token, body: { access: 'email', grant: ['ada@example.com'] } })
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = part({ iss: 'x', aud: 'x', exp: 9_999_999_999, nonce: 'x', email: 'ada@example.com', email_verified: true })
  const tokens = [
    'x',
    '..',
    'a.b.c',
    `${part({ alg: 'none' })}.${claims}.`,
    `${part({ alg: 'HS256' })}.${claims}.AAAA`,
    `${part([])}.${part(null)}.${part(1)}`,
    '\u00ff.\u00ff.\u00ff',
    `${part({ alg: 'RS256', kid: '__proto__' })}.${claims}.AAAA`,
    'a'.repeat(6_000),
  ]
  const keys = [
    '{}',
    '{',
    'null',
    '[]',
    '1',
    '"x"',
    '{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}',
    '{"kty":"RSA"}',
    '{"__proto__":1}',
    '\u00ff',
    '['.repeat(2_000),
  ]
  for (const idToken of tokens) {
    for (const spk of keys) {
      const answer = await call(origin, `GET ${path}`, {
        key: tenant.publishable,
        headers: { 'x-id-token': idToken, 'x-spk': spk },
      })
      // Without a provider configured, no token can be checked.
      assertRefused(answer, ['not_authorized', 'unavailable'], `${idToken.slice(0, 60)} and ${spk.slice(0, 60)}`)
    }
  }
})
