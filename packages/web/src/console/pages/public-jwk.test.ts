import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseEncryptionJwk, parsePublicJwk } from './public-jwk.ts'

test('of a public key only its public fields are sent, and a private key is never', () => {
  const key = { kty: 'RSA', n: 'u3Qc', e: 'AQAB' }
  assert.deepEqual(parsePublicJwk(JSON.stringify({ ...key, kid: 'mine', ext: true })), key)
  for (const secret of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'])
    assert.match(String(parsePublicJwk(JSON.stringify({ ...key, [secret]: 'x' }))), /has a private key/)
  for (const text of ['', 'null', '[]', '"x"', '{"kty":"EC","n":"a","e":"b"}', '{"kty":"RSA","n":1,"e":"b"}'])
    assert.equal(typeof parsePublicJwk(text), 'string', text)
})

test('a key to seal to is the public part of a P-256 key, and what is wrong with another one is named', () => {
  const coordinate = 'A'.repeat(43)
  const key = { kty: 'EC', crv: 'P-256', x: coordinate, y: coordinate }
  const parse = (value: object) => parseEncryptionJwk(JSON.stringify(value))
  assert.deepEqual(parse({ ...key, kid: 'mine', key_ops: [] }), key)
  assert.match(String(parse({ ...key, d: coordinate })), /has a private key/)
  assert.match(String(parse({ ...key, crv: 'P-384' })), /another curve: crv is "P-384"/)
  assert.match(String(parse({ kty: 'OKP', crv: 'X25519', x: coordinate })), /not an EC key: kty is "OKP"/)
  assert.match(String(parse({})), /kty is missing/)
  for (const wrong of [{ x: 'A' }, { y: undefined }, { y: `${coordinate.slice(1)}=` }])
    assert.match(String(parse({ ...key, ...wrong })), /43 characters/)
  assert.equal(parseEncryptionJwk('-----BEGIN PUBLIC KEY-----'), 'This is not JSON.')
})
