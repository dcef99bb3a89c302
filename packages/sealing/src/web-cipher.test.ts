import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decrypt, encrypt, unwrapKey, wrapKey } from './web-cipher.ts'
import { gcmVectors, hex, keyWrapVectors, skip } from './testing/vectors.ts'

type Bytes = Uint8Array<ArrayBuffer>

const importGcm = (raw: Bytes) => crypto.subtle.importKey('raw', raw, 'AES-GCM', true, ['encrypt', 'decrypt'])
const importWrap = (raw: Bytes) => crypto.subtle.importKey('raw', raw, 'AES-KW', false, ['wrapKey', 'unwrapKey'])

test('Wycheproof AES-GCM through Web Crypto', { skip }, async () => {
  const seen = { valid: 0, invalid: 0, acceptable: 0 }
  for (const { tcId, comment, key, iv, aad, msg, ct, tag, result } of gcmVectors ?? []) {
    seen[result] += 1
    const input = { contentKey: await importGcm(hex(key)), iv: hex(iv), aad: hex(aad) }
    const opened = await decrypt(input, { ciphertext: hex(ct), tag: hex(tag) })
    assert.deepEqual(opened, result === 'valid' ? hex(msg) : undefined, `${tcId} ${comment}`)
    if (result === 'valid') assert.deepEqual(await encrypt(input, hex(msg)), { ciphertext: hex(ct), tag: hex(tag) }, `${tcId}`)
  }
  assert.ok(seen.valid > 30 && seen.invalid > 20, JSON.stringify(seen))
})

test('Wycheproof AES-WRAP of 256-bit keys through Web Crypto', { skip }, async () => {
  const seen = { valid: 0, invalid: 0, acceptable: 0 }
  const input = { iv: hex('00'.repeat(12)), aad: hex('') }
  for (const { tcId, comment, key, msg, ct, result } of (keyWrapVectors ?? []).filter(({ ct }) => ct.length === 80)) {
    seen[result] += 1
    const wrapping = await importWrap(hex(key))
    const contentKey = await unwrapKey(wrapping, hex(ct))
    assert.equal(contentKey !== undefined, result === 'valid', `${tcId} ${comment}`)
    if (!contentKey) continue
    const wrapped = await importGcm(hex(msg))
    assert.deepEqual(await wrapKey(wrapping, wrapped), hex(ct), `${tcId} ${comment}`)
    const sealed = await encrypt({ ...input, contentKey: wrapped }, hex('abcd'))
    assert.deepEqual(await decrypt({ ...input, contentKey }, sealed), hex('abcd'), `${tcId} ${comment}`)
  }
  assert.ok(seen.valid > 2 && seen.invalid > 5, JSON.stringify(seen))
})

test('a fault that is not the cipher saying no is not taken for it', async () => {
  const gcm = await importGcm(hex('00'.repeat(32)))
  await assert.rejects(unwrapKey(gcm, hex('00'.repeat(40))), { name: 'InvalidAccessError' })
})
