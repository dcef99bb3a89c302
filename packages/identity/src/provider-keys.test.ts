import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { verifyIdToken } from './id-token.ts'
import { ProviderKeys } from './provider-keys.ts'
import { ProviderUnavailable } from './provider-unavailable.ts'
import { createTestProvider, type TestProvider } from './testing/provider.ts'
import { serveTestProvider } from './testing/serve-provider.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const audience = 'atrium'

/** A provider, our cache of its keys, and hands on both its health and the clock. */
async function scene() {
  const state = { nowMs: Date.UTC(2026, 10, 20, 12), isDown: false, discoveries: 0, jwkSet: undefined as unknown }
  const now = () => state.nowMs
  const provider = await createTestProvider({ now })
  const { issuer } = provider
  const keys = new ProviderKeys({
    issuer,
    now,
    async fetchJson(url) {
      if (url.includes('.well-known')) state.discoveries += 1
      if (state.isDown) throw new Error('connect ECONNREFUSED')
      return url.endsWith('/jwks') && state.jwkSet ? state.jwkSet : provider.fetchJson(url)
    },
  })
  const verify = (token: string) => verifyIdToken(token, { keys, issuer, audience, nowMs: state.nowMs })
  return { state, provider, keys, verify }
}

function unknownKidTokens(provider: TestProvider, count: number): Promise<string[]> {
  return Promise.all(Array.from({ length: count }, (_, i) => provider.sign({}, { kid: `unknown-${i}` })))
}

const badSignature = { ok: false, reason: 'bad_signature' }

test('100 tokens at once on a cold cache are one fetch', async () => {
  const { state, provider, verify } = await scene()
  const token = await provider.sign({})
  const verdicts = await Promise.all(Array.from({ length: 100 }, () => verify(token)))
  assert.ok(verdicts.every(({ ok }) => ok))
  assert.equal(state.discoveries, 1)
})

test('100 tokens with unknown kids while the provider is down are at most one fetch in 30 s', async () => {
  const { state, provider, verify } = await scene()
  await verify(await provider.sign({}))
  state.isDown = true
  state.nowMs += MINUTE
  state.discoveries = 0
  const tokens = await unknownKidTokens(provider, 100)
  for (const token of tokens.slice(0, 50)) await assert.rejects(verify(token), ProviderUnavailable)
  state.nowMs += 29 * SECOND
  await Promise.all(tokens.slice(50).map((token) => assert.rejects(verify(token), ProviderUnavailable)))
  assert.equal(state.discoveries, 1)
  state.nowMs += SECOND
  await Promise.all(tokens.map((token) => assert.rejects(verify(token), ProviderUnavailable)))
  assert.equal(state.discoveries, 2)
})

test('unknown kids cost a provider that is up no more', async () => {
  const { state, provider, verify } = await scene()
  for (const token of await unknownKidTokens(provider, 100)) assert.deepEqual(await verify(token), badSignature)
  assert.equal(state.discoveries, 1)
})

test('with no key ever had, a token is not refused but unjudged, and one fetch in 30 s is tried', async () => {
  const { state, provider, verify } = await scene()
  state.isDown = true
  const token = await provider.sign({})
  for (let i = 0; i < 100; i += 1) await assert.rejects(verify(token), ProviderUnavailable)
  assert.equal(state.discoveries, 1)
  state.isDown = false
  state.nowMs += 30 * SECOND
  assert.equal((await verify(token)).ok, true)
})

test('an expired cache with the provider down accepts good tokens for an hour, then none', async () => {
  const { state, provider, verify } = await scene()
  await verify(await provider.sign({}))
  state.isDown = true
  state.nowMs += 10 * MINUTE
  for (let i = 0; i < 50; i += 1) assert.equal((await verify(await provider.sign({}))).ok, true)
  state.nowMs += 60 * MINUTE - 1
  assert.equal((await verify(await provider.sign({}))).ok, true)
  state.nowMs += 1
  await assert.rejects(verify(await provider.sign({})), (error: ProviderUnavailable) => {
    return error instanceof ProviderUnavailable && /ECONNREFUSED/.test(String(error.cause))
  })
  state.isDown = false
  state.nowMs += 30 * SECOND
  assert.equal((await verify(await provider.sign({}))).ok, true)
})

test('a key the provider withdrew is gone after ten minutes, its successor known at once', async () => {
  const { state, provider, verify } = await scene()
  await verify(await provider.sign({}))
  const next = await createTestProvider({ kid: 'k2', now: () => state.nowMs })
  state.jwkSet = { keys: [next.publicJwk] }
  state.nowMs += 10 * MINUTE - 1
  assert.equal((await verify(await provider.sign({}))).ok, true)
  assert.equal(state.discoveries, 1)
  assert.equal((await verify(await next.sign({}))).ok, true)
  assert.deepEqual(await verify(await provider.sign({})), badSignature)
})

test('while the provider is down, a token with a new key is not judged, and it is accepted afterwards', async () => {
  const { state, provider, verify } = await scene()
  await verify(await provider.sign({}))
  const next = await createTestProvider({ kid: 'k2', now: () => state.nowMs })
  state.jwkSet = { keys: [provider.publicJwk, next.publicJwk] }
  state.isDown = true
  state.nowMs += MINUTE
  await assert.rejects(verify(await next.sign({})), ProviderUnavailable)
  assert.equal((await verify(await provider.sign({}))).ok, true)
  state.isDown = false
  state.nowMs += 30 * SECOND
  assert.equal((await verify(await next.sign({}))).ok, true)
  assert.deepEqual(await verify(await provider.sign({}, { kid: 'unknown' })), badSignature)
})

test('a fresh cache sends no request', async () => {
  const { state, provider, verify } = await scene()
  await verify(await provider.sign({}))
  state.nowMs += 10 * MINUTE - 1
  assert.equal((await verify(await provider.sign({}))).ok, true)
  assert.equal(state.discoveries, 1)
  state.nowMs += 1
  await verify(await provider.sign({}))
  assert.equal(state.discoveries, 2)
})

test('a clock set back a year does not keep old keys fresh for a year', async () => {
  const { state, provider, verify } = await scene()
  await verify(await provider.sign({}))
  state.nowMs -= 365 * 24 * 60 * MINUTE
  await verify(await provider.sign({}))
  assert.equal(state.discoveries, 2)
})

test('an empty or unreadable key set is a failure, and known keys stay valid', async () => {
  const { state, provider, verify } = await scene()
  await verify(await provider.sign({}))
  for (const jwkSet of [{ keys: [] }, { keys: 'none' }, [], 'x', { keys: [null, 1, {}, { kty: 'RSA', n: 'AQ', e: 'AQAB' }] }]) {
    state.jwkSet = jwkSet
    state.nowMs += 10 * MINUTE
    assert.equal((await verify(await provider.sign({}))).ok, true)
  }
  assert.equal(state.discoveries, 6)
})

test('a token without kid is refused by a provider of two keys', async () => {
  const { state, provider, verify } = await scene()
  const other = await createTestProvider({ kid: 'k2' })
  state.jwkSet = { keys: [provider.publicJwk, other.publicJwk] }
  assert.equal((await verify(await provider.sign({}))).ok, true)
  assert.deepEqual(await verify(await provider.sign({}, { kid: undefined })), badSignature)
})

test('of two keys under one kid the first counts', async () => {
  const { state, provider, verify } = await scene()
  const other = await createTestProvider({ now: () => state.nowMs })
  state.jwkSet = { keys: [provider.publicJwk, other.publicJwk] }
  assert.equal((await verify(await provider.sign({}))).ok, true)
  assert.deepEqual(await verify(await other.sign({})), badSignature)
})

test('a fetch that never ends does not block callers forever', async () => {
  const keys = new ProviderKeys({
    issuer: 'https://id.example',
    fetchJson: () => new Promise(() => {}),
    refreshTimeoutMs: 5,
  })
  const lookups = await Promise.allSettled([keys.find('a'), keys.find('b'), keys.find(undefined)])
  for (const lookup of lookups) assert.ok(lookup.status === 'rejected' && lookup.reason instanceof ProviderUnavailable)
})

test('over HTTP: discovery, then the key set, once', async (t) => {
  const { provider, requests, close } = await serveTestProvider()
  t.after(close)
  const { issuer } = provider
  const fetchJson = async (url: string): Promise<unknown> => (await fetch(url)).json()
  const keys = new ProviderKeys({ issuer, fetchJson })
  for (let i = 0; i < 5; i += 1) {
    const verdict = await verifyIdToken(await provider.sign({}), { keys, issuer, audience, nowMs: Date.now() })
    assert.equal(verdict.ok, true)
  }
  assert.deepEqual(requests, ['/.well-known/openid-configuration', '/jwks'])
})

const { publicJwk } = await createTestProvider()
const weak = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' })
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' })
const unfit: readonly [string, object][] = [
  ['a 1024-bit key', { ...weak, kid: 'k1' }],
  ['an exponent of one', { ...publicJwk, e: 'AQ' }],
  ['an exponent of four', { ...publicJwk, e: 'BA' }],
  ['an exponent as long as the modulus', { ...publicJwk, e: publicJwk.n }],
  ['a modulus of 65,536 bits', { ...publicJwk, n: Buffer.alloc(8_192, 0xff).toString('base64url') }],
  ['a key for encryption', { ...publicJwk, use: 'enc' }],
  ['a key for PS256', { ...publicJwk, alg: 'PS256' }],
  ['a key for signing only', { ...publicJwk, key_ops: ['sign'] }],
  ['a numeric kid', { ...publicJwk, kid: 1 }],
  ['a key without modulus', { ...publicJwk, n: undefined }],
  ['an EC key', { ...ec, kid: 'k1' }],
  ['a symmetric key', { kty: 'oct', k: 'c2VjcmV0', kid: 'k1' }],
  ['the 65th key', { ...publicJwk, kid: 'k65' }],
]

for (const [name, jwk] of unfit) {
  test(`${name} verifies nothing`, async () => {
    const { state, provider, keys } = await scene()
    const others = name === 'the 65th key' ? 64 : 1
    const fillers = Array.from({ length: others }, (_, i) => ({ ...provider.publicJwk, kid: `other-${i}` }))
    state.jwkSet = { keys: [...fillers, jwk] }
    const kid = 'kid' in jwk ? String(jwk.kid) : undefined
    assert.equal(await keys.find(kid), undefined)
    assert.ok(await keys.find('other-0'))
  })
}
