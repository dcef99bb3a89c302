import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { test } from 'node:test'
import { isEdDsaSignature, isEs256Signature, isRs256Signature } from './signature.ts'
import { findWycheproof } from './testing/vectors.ts'

type Check = (publicKey: KeyObject, text: Uint8Array, signature: string) => boolean

function checkVectors(name: string, check: Check): void {
  const file = findWycheproof(name)
  test(`Wycheproof ${name}`, { skip: file ? false : '../shared/vectors is not there' }, () => {
    const seen = { valid: 0, invalid: 0, acceptable: 0 }
    for (const group of file?.testGroups ?? []) {
      const key = createPublicKey(group.publicKeyPem ?? '')
      for (const { tcId, comment, msg, sig, result } of group.tests) {
        const verdict = check(key, Buffer.from(msg, 'hex'), Buffer.from(sig, 'hex').toString('base64url'))
        seen[result] += 1
        // "acceptable" is PKCS #1 padding without its NULL: a verifier may take either side, ours must be strict.
        assert.equal(verdict, result === 'valid', `${tcId} ${comment} (${result})`)
      }
    }
    assert.ok(seen.valid > 5 && seen.invalid > 50, JSON.stringify(seen))
  })
}

checkVectors('rsa_signature_2048_sha256', isRs256Signature)
checkVectors('ecdsa_secp256r1_sha256_p1363', isEs256Signature)

test('RS256 takes neither a PSS signature nor an EC key', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pss = sign('sha256', Buffer.from('m'), { key: rsa.privateKey, padding: 6, saltLength: 32 })
  assert.equal(isRs256Signature(rsa.publicKey, 'm', pss.toString('base64url')), false)
  const ecdsa = sign('sha256', Buffer.from('m'), ec.privateKey)
  assert.equal(isRs256Signature(ec.publicKey, 'm', ecdsa.toString('base64url')), false)
})

test('ES256 takes r‖s only: no DER, no other curve, no second spelling', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const good = sign('sha256', Buffer.from('m'), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')
  assert.equal(isEs256Signature(publicKey, 'm', good), true)
  assert.equal(isEs256Signature(publicKey, 'm', `${good}=`), false)
  assert.equal(isEs256Signature(publicKey, 'n', good), false)
  assert.equal(isEs256Signature(publicKey, 'm', sign('sha256', Buffer.from('m'), privateKey).toString('base64url')), false)
  const k1 = generateKeyPairSync('ec', { namedCurve: 'secp256k1' })
  const other = sign('sha256', Buffer.from('m'), { key: k1.privateKey, dsaEncoding: 'ieee-p1363' })
  assert.equal(isEs256Signature(k1.publicKey, 'm', other.toString('base64url')), false)
})

test('EdDSA takes 64 bytes in one spelling, by an Ed25519 key', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const good = sign(null, Buffer.from('m'), privateKey).toString('base64url')
  assert.equal(await isEdDsaSignature(publicKey, 'm', good), true)
  assert.equal(await isEdDsaSignature(publicKey, 'n', good), false)
  assert.equal(await isEdDsaSignature(publicKey, 'm', `${good}=`), false)
  assert.equal(await isEdDsaSignature(publicKey, 'm', good.slice(0, -4)), false)
  assert.equal(await isEdDsaSignature(generateKeyPairSync('ed25519').publicKey, 'm', good), false)
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const es256 = sign('sha256', Buffer.from('m'), { key: ec.privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')
  assert.equal(await isEdDsaSignature(ec.publicKey, 'm', es256), false)
})

test('of many EdDSA signatures at once, each has its own verdict', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const signed = Array.from({ length: 64 }, (_, i) => ({
    // Of each three, the last one is a signature of another text.
    text: `${i}`,
    signature: sign(null, Buffer.from(i % 3 === 2 ? 'another' : `${i}`), privateKey).toString('base64url'),
  }))
  const verdicts = await Promise.all(signed.map(({ text, signature }) => isEdDsaSignature(publicKey, text, signature)))
  assert.deepEqual(
    verdicts,
    signed.map((_, i) => i % 3 !== 2),
  )
})
