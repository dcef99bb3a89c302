import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CompactEncrypt, compactDecrypt } from 'jose'
import { openSealedToKey, sealToKey } from './seal-to-key.ts'
import type { EcPublicKey } from './web-recipient.ts'

const curve = { name: 'ECDH', namedCurve: 'P-256' }

async function newKey() {
  const { publicKey, privateKey } = await crypto.subtle.generateKey(curve, true, ['deriveBits'])
  const { x = '', y = '' } = await crypto.subtle.exportKey('jwk', publicKey)
  const jwk: EcPublicKey = { kty: 'EC', crv: 'P-256', x, y }
  return { publicKey, privateKey, jwk }
}

test('jose opens what is sealed to a key, and the reverse', async () => {
  const { publicKey, privateKey, jwk } = await newKey()
  const sealed = await sealToKey(jwk, 'lamp', 'Grüße aus dem Hafen')
  const { plaintext, protectedHeader } = await compactDecrypt(sealed, privateKey)
  assert.equal(Buffer.from(plaintext).toString(), 'Grüße aus dem Hafen')
  assert.deepEqual([protectedHeader.alg, protectedHeader.enc, protectedHeader.kid], ['ECDH-ES', 'A256GCM', 'lamp'])
  const by = await new CompactEncrypt(Buffer.from('from jose'))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', kid: 'lamp' })
    .encrypt(publicKey)
  assert.equal(await openSealedToKey(privateKey, by), 'from jose')
})

test('another key opens nothing, and nothing that was changed is opened', async () => {
  const [one, other] = [await newKey(), await newKey()]
  const sealed = await sealToKey(one.jwk, 'lamp', 'for one')
  assert.equal(await openSealedToKey(one.privateKey, sealed), 'for one')
  assert.equal(await openSealedToKey(other.privateKey, sealed), undefined)
  const parts = sealed.split('.')
  for (const i of [0, 2, 3, 4]) {
    const flipped = [...parts]
    flipped[i] = `${parts[i]![0] === 'A' ? 'B' : 'A'}${parts[i]!.slice(1)}`
    assert.equal(await openSealedToKey(one.privateKey, flipped.join('.')), undefined, `part ${i}`)
  }
  assert.equal(await openSealedToKey(one.privateKey, 'no JWE'), undefined)
})
