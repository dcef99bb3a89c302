import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { verifyIdToken } from '../../identity/src/id-token.ts'
import { importRs256Keys } from '../../identity/src/rsa-keys.ts'
import { createTestProvider } from '../../identity/src/testing/provider.ts'
import { checkIdToken, readProviderKeys } from './sealed-token.ts'

const nowMs = Date.parse('2026-11-23T12:00:00Z')
const now = nowMs / 1000
const provider = await createTestProvider({ now: () => nowMs })
const other = await createTestProvider({ now: () => nowMs })
const good = await provider.sign({})
const [head = '', payload = '', signature = ''] = good.split('.')
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** What each token is rejected for; ok: it is not. */
const cases: Record<string, [string, string | Promise<string>]> = {
  'an honest one': ['ok', good],
  'several audiences, for us': ['ok', provider.sign({ aud: ['x', 'atrium'], azp: 'atrium' })],
  'an empty text': ['malformed', ''],
  'two parts': ['malformed', `${head}.${payload}`],
  'four parts': ['malformed', `${good}.x`],
  'more than 16 KiB': ['malformed', provider.sign({ more: 'x'.repeat(16_384) })],
  'of another type': ['malformed', provider.sign({}, { typ: 'at+jwt' })],
  'with an extension': ['malformed', provider.sign({}, { kid: 7 })],
  'a header with a stray bit': ['malformed', `${head.slice(0, -1)}_.${payload}.${signature}`],
  'by another provider': ['bad_signature', other.sign({})],
  'by a key that is not there': ['bad_signature', provider.sign({}, { kid: 'k2' })],
  'with no signature': ['bad_signature', `${encoded({ alg: 'none', kid: 'k1' })}.${payload}.`],
  'with another algorithm': ['bad_signature', `${encoded({ alg: 'PS256', kid: 'k1' })}.${payload}.${signature}`],
  altered: ['bad_signature', `${head}.${encoded({ email: 'eve@example.com' })}.${signature}`],
  'with padding': ['bad_signature', `${good}=`],
  'without a nonce': ['malformed', provider.sign({ nonce: undefined })],
  'of another issuer': ['bad_issuer', provider.sign({ iss: 'https://other.example' })],
  'for another client': ['bad_aud', provider.sign({ aud: 'other' })],
  'for another party': ['bad_aud', provider.sign({ azp: 'other' })],
  'that has ended': ['expired', provider.sign({ exp: now - 61 })],
  'that is a day old': ['expired', provider.sign({ iat: now - 86_400, exp: now + 86_400 })],
  'that has not begun': ['not_yet_valid', provider.sign({ iat: now + 61, exp: now + 3600 })],
  'whose address is not verified': ['unverified_email', provider.sign({ email_verified: 'true' })],
  'without an address': ['unverified_email', provider.sign({ email: undefined })],
}

const jwks = { keys: [provider.publicJwk] }
const expected = { issuer: provider.issuer, audience: 'atrium', nowMs }

for (const [name, [reason, made]] of Object.entries(cases))
  test(`an ID token ${name}: ${reason}, as the Space service says`, async () => {
    const token = await made
    const keys = importRs256Keys(jwks)
    const theirs = await verifyIdToken(token, { ...expected, keys: { find: async (kid) => keys.get(kid) } })
    const ours = await checkIdToken(token, { ...expected, keys: readProviderKeys(jwks) })
    assert.equal(theirs.ok ? 'ok' : theirs.reason, reason)
    assert.equal(typeof ours === 'string' ? ours : 'ok', reason)
    if (typeof ours !== 'string' && theirs.ok) {
      const { signedBy, ...claims } = ours
      assert.deepEqual(claims, theirs.claims)
      assert.equal(signedBy.kid, 'k1')
    }
  })

test('keys that are too weak, or for another use, verify nothing', async () => {
  const weak = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' })
  const padded = { ...provider.publicJwk, n: `AAAA${provider.publicJwk.n}` }
  for (const key of [{ ...weak, kid: 'k1' }, { ...provider.publicJwk, e: 'AQ' }, { ...provider.publicJwk, use: 'enc' }, padded])
    assert.equal(await checkIdToken(good, { ...expected, keys: readProviderKeys({ keys: [key] }) }), 'bad_signature')
  assert.deepEqual(readProviderKeys({ keys: [{ kty: 'EC' }, 1, { kty: 'RSA' }] }), [])
  assert.deepEqual(readProviderKeys(null), [])
})
