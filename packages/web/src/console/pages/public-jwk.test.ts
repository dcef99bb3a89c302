import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parsePublicJwk } from './public-jwk.ts'

test('of a public key only its public fields are sent, and a private key is never', () => {
  const key = { kty: 'RSA', n: 'u3Qc', e: 'AQAB' }
  assert.deepEqual(parsePublicJwk(JSON.stringify({ ...key, kid: 'mine', ext: true })), key)
  for (const secret of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'])
    assert.match(String(parsePublicJwk(JSON.stringify({ ...key, [secret]: 'x' }))), /has a private key/)
  for (const text of ['', 'null', '[]', '"x"', '{"kty":"EC","n":"a","e":"b"}', '{"kty":"RSA","n":1,"e":"b"}'])
    assert.equal(typeof parsePublicJwk(text), 'string', text)
})
