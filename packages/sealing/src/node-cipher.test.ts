import assert from 'node:assert/strict'
import { createSecretKey } from 'node:crypto'
import { test } from 'node:test'
import { decrypt, encrypt, unwrapKey, withFreshKey, wrapKey } from './node-cipher.ts'
import { gcmVectors, hex, keyWrapVectors, skip } from './testing/vectors.ts'

test('Wycheproof AES-GCM: 256-bit keys, 96-bit ivs', { skip }, () => {
  const seen = { valid: 0, invalid: 0, acceptable: 0 }
  for (const { tcId, comment, key, iv, aad, msg, ct, tag, result } of gcmVectors ?? []) {
    seen[result] += 1
    const input = { contentKey: hex(key), iv: hex(iv), aad: hex(aad) }
    const made = encrypt(input, hex(msg))
    const opened = decrypt(input, { ciphertext: hex(ct), tag: hex(tag) })
    if (result === 'valid') {
      assert.deepEqual([hex(ct), hex(tag)], [Uint8Array.from(made.ciphertext), Uint8Array.from(made.tag)], `${tcId} ${comment}`)
      assert.equal(opened?.toString('hex'), msg, `${tcId} ${comment}`)
    } else assert.equal(opened, undefined, `${tcId} ${comment}`)
  }
  assert.ok(seen.valid > 30 && seen.invalid > 20, JSON.stringify(seen))
})

test('Wycheproof AES-WRAP: 256-bit keys', { skip }, () => {
  const seen = { valid: 0, invalid: 0, acceptable: 0 }
  for (const { tcId, comment, key, msg, ct, result } of keyWrapVectors ?? []) {
    seen[result] += 1
    const wrapping = createSecretKey(hex(key))
    const opened = unwrapKey(wrapping, hex(ct))
    if (result === 'valid') {
      assert.equal(wrapKey(wrapping, hex(msg)).toString('hex'), ct, `${tcId} ${comment}`)
      assert.equal(opened?.toString('hex'), msg, `${tcId} ${comment}`)
    } else assert.equal(opened, undefined, `${tcId} ${comment}`)
  }
  assert.ok(seen.valid > 10 && seen.invalid > 20, JSON.stringify(seen))
})

test('GCM takes no tag but a whole one', () => {
  const input = { contentKey: hex('00'.repeat(32)), iv: hex('00'.repeat(12)), aad: hex('') }
  const { ciphertext, tag } = encrypt(input, hex('abcd'))
  for (let length = 0; length < 16; length++) {
    assert.throws(() => decrypt(input, { ciphertext, tag: tag.subarray(0, length) }))
  }
})

test('no content key or iv is lent twice, and each is wiped after use, also after a failure', () => {
  const seen = new Set<string>()
  for (let i = 0; i < 2000; i++) {
    const lent = withFreshKey((fresh) => {
      seen.add(Buffer.from(fresh.contentKey).toString('hex')).add(Buffer.from(fresh.iv).toString('hex'))
      assert.deepEqual([fresh.contentKey.length, fresh.iv.length], [32, 12])
      return fresh
    })
    assert.ok([...lent.contentKey, ...lent.iv].every((byte) => byte === 0))
  }
  assert.equal(seen.size, 4000)
  let failed: Uint8Array = new Uint8Array([1])
  const fails = () =>
    withFreshKey(({ contentKey }) => {
      failed = contentKey
      throw new Error('no')
    })
  assert.throws(fails, /no/)
  assert.ok(failed.every((byte) => byte === 0))
})
