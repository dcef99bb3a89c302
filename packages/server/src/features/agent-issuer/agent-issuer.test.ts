import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { verifyAgentToken } from '@atrium/identity/agent-token'
import { verifyIdToken } from '@atrium/identity/id-token'
import { ProviderKeys } from '@atrium/identity/provider-keys'
import { createTestDevice } from '@atrium/identity/testing/provider'
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import { startTestApi, type TestApi } from '#testing/test-api.ts'
import { Vault } from '#crypto/vault/vault.ts'
import { PlatformIssuer } from './agent-issuer.ts'
import { PlatformKeys } from '../platform-keys/platform-keys.ts'

const publicUrl = 'http://api.test'
const spacesUrl = 'https://spaces.test'
const agent = { id: 'agt_0123456789abcdefghijAB', name: 'Scribe' }

let api: TestApi
before(async () => {
  api = await startTestApi({ publicUrl, spacesUrl })
})
after(() => api.close())

async function issue(name = agent.name, notAfter?: Date) {
  const { spk, nonce } = await createTestDevice()
  const key = { kty: 'EC', crv: 'P-256', x: spk.x!, y: spk.y! }
  return { token: await api.ctx.agentIssuer.issue({ id: agent.id, name }, key, notAfter), nonce }
}

/** Fetches like any verifier. publicUrl does not resolve, so that the server's real origin replaces it. */
async function getJson(url: string): Promise<any> {
  const res = await fetch(url.replace(publicUrl, api.origin))
  assert.equal(res.status, 200)
  return res.json()
}

test('jose verifies a token with the discovered keys, and it binds the agent to the device key', async () => {
  const { token, nonce } = await issue()
  const { issuer, jwks_uri: jwksUri } = await getJson(`${publicUrl}/.well-known/openid-configuration`)
  assert.equal(issuer, publicUrl)
  const keys = createRemoteJWKSet(new URL(jwksUri.replace(publicUrl, api.origin)))
  const rules = { issuer, audience: spacesUrl, algorithms: ['RS256'], typ: 'agent+jwt' }
  const { payload } = await jwtVerify(token, keys, rules)
  const { iat, exp, ...said } = payload
  assert.deepEqual(said, { iss: publicUrl, aud: spacesUrl, sub: agent.id, name: 'Scribe', nonce })
  assert.equal(exp! - iat!, 45)
})

test("our own verifier accepts a token as an agent's, and not as a person's", async () => {
  const { token } = await issue()
  // A Space service fetches only https or loopback addresses, so that another name replaces the issuer here.
  const issuer = 'http://localhost'
  const fetchJson = async (url: string) => {
    const found = await getJson(url.replace(issuer, publicUrl))
    return 'issuer' in found ? { ...found, issuer, jwks_uri: found.jwks_uri.replace(publicUrl, issuer) } : found
  }
  const keys = new ProviderKeys({ issuer, fetchJson })
  const expected = { keys, issuer: publicUrl, audience: spacesUrl, nowMs: Date.now() }
  assert.equal((await verifyAgentToken(token, expected)).ok, true)
  assert.deepEqual(await verifyIdToken(token, expected), { ok: false, reason: 'malformed' })
})

test('a name is cut to 200 characters, and a token expires with its session', async () => {
  const { token } = await issue('🏮'.repeat(300), new Date(Date.now() + 20_000))
  const { name, iat, exp } = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())
  assert.equal(name, '🏮'.repeat(200))
  assert.ok(exp - iat <= 20)
})

test("a token follows the verifier's clock, within ten minutes", async () => {
  const madeAt = async () => JSON.parse(Buffer.from((await issue()).token.split('.')[1]!, 'base64url').toString()).iat as number
  const clock = (aheadMs: number) => api.ctx.agentIssuer.followClock(new Date(Date.now() + aheadMs).toUTCString())
  const nowSeconds = () => Date.now() / 1_000
  clock(120_000)
  assert.ok(Math.abs((await madeAt()) - nowSeconds() - 120) < 3)
  clock(3_600_000)
  api.ctx.agentIssuer.followClock(null)
  assert.ok(Math.abs((await madeAt()) - nowSeconds() - 120) < 3, 'what cannot be right is passed over')
  clock(0)
  assert.ok(Math.abs((await madeAt()) - nowSeconds()) < 3)
})

test('a verifier whose clock is further off is reported once a minute', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 0, 1) })
  const reported: number[] = []
  const keys = api.ctx.agentIssuer.keys
  const onWrongClock = (seconds: number) => void reported.push(seconds)
  const issuer = new PlatformIssuer({ issuer: publicUrl, audience: spacesUrl, keys, onWrongClock })
  issuer.followClock('not a date')
  issuer.followClock(new Date(Date.now() + 600_000).toUTCString())
  assert.deepEqual(reported, [])
  for (const aheadMs of [-3_600_000, 3_600_000]) issuer.followClock(new Date(Date.now() + aheadMs).toUTCString())
  assert.deepEqual(reported, [-3_600])
})

test('an invalid device key receives no token', async () => {
  const { spk } = await createTestDevice()
  for (const key of [
    { ...spk, x: spk.y },
    { ...spk, d: spk.x },
    { kty: 'EC', crv: 'P-256' },
  ]) {
    await assert.rejects(api.ctx.agentIssuer.issue(agent, key as never), /no public EC P-256 key/)
  }
})

test('discovery and keys are public, cached briefly, and without private parts', async () => {
  for (const path of ['/.well-known/openid-configuration', '/.well-known/jwks.json']) {
    const res = await fetch(api.origin + path)
    assert.equal(res.status, 200)
    assert.equal(res.headers.get('access-control-allow-origin'), '*')
    assert.equal(res.headers.get('cache-control'), 'public, max-age=60')
    assert.match(res.headers.get('content-type') ?? '', /^application\/json/)
  }
  const { keys } = await getJson(`${publicUrl}/.well-known/jwks.json`)
  assert.deepEqual(Object.keys(keys[0]), ['kty', 'use', 'alg', 'kid', 'n', 'e'])
  assert.equal(decodeProtectedHeader((await issue()).token).kid, keys[0].kid)
})

test('processes that start concurrently share one key', async () => {
  const fresh = await startTestApi({ publicUrl })
  try {
    const { db, vault } = fresh.ctx
    const processes = Array.from({ length: 6 }, () => new PlatformKeys({ db, vault, purpose: 'agent_tokens' }))
    const kids = await Promise.all(processes.map(async (keys) => (await keys.current()).kid))
    assert.equal(new Set(kids).size, 1)
    const { rows } = await db.pool.query("select id from platform_keys where purpose = 'agent_tokens'")
    assert.deepEqual(rows, [{ id: kids[0] }])
  } finally {
    await fresh.close()
  }
})

test('a retired key stops signing within a minute, and is published for a day so that its tokens stay valid', async () => {
  const { db, vault } = api.ctx
  const state = { nowMs: Date.now() }
  const keys = new PlatformKeys({ db, vault, purpose: 'quotes', now: () => state.nowMs })
  const { kid: first } = await keys.current()
  await db.pool.query("update platform_keys set retired_at = now() where purpose = 'quotes'")
  state.nowMs += 60_000
  const { kid: second } = await keys.current()
  assert.notEqual(second, first)
  assert.deepEqual(new Set((await keys.published()).map(({ kid }) => kid)), new Set([first, second]))
  await db.pool.query("update platform_keys set retired_at = now() - interval '25 hours' where id = $1", [first])
  state.nowMs += 60_000
  assert.deepEqual(
    (await keys.published()).map(({ kid }) => kid),
    [second],
  )
})

test('a database fault is not cached', async () => {
  const { db, vault } = api.ctx
  let away = true
  const flaky = {
    query: (...args: Parameters<typeof db.query>) => (away ? Promise.reject(new Error('away')) : db.query(...args)),
  }
  const keys = new PlatformKeys({ db: flaky as typeof db, vault, purpose: 'agent_tokens' })
  await assert.rejects(keys.current(), /away/)
  away = false
  assert.ok((await keys.current()).kid)
})

test('another master key opens no key, and a key moved to another row does not open', async () => {
  const { db, vault } = api.ctx
  const { kid } = await new PlatformKeys({ db, vault, purpose: 'agent_tokens' }).current()
  const stolen = new PlatformKeys({ db, vault: new Vault([Buffer.alloc(32, 8)]), purpose: 'agent_tokens' })
  await assert.rejects(stolen.current(), /another master key/)
  await db.pool.query("delete from platform_keys where purpose = 'receipts'")
  await db.pool.query(
    `insert into platform_keys (purpose, id, public_jwk, private_sealed)
     select 'receipts', id, public_jwk, private_sealed from platform_keys where id = $1`,
    [kid],
  )
  await assert.rejects(new PlatformKeys({ db, vault, purpose: 'receipts' }).current(), /authenticate/)
})
