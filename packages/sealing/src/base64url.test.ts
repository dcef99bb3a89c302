import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decodeBase64url, encodeBase64url, isBase64url } from './base64url.ts'

test('bytes go to the text that Node gives, and back', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const text = encodeBase64url(bytes)
      assert.equal(text, Buffer.from(bytes).toString('base64url'))
      assert.ok(isBase64url(text))
      assert.deepEqual(decodeBase64url(text), Uint8Array.from(bytes))
    }),
    { numRuns: 2000 },
  )
})

test('of all texts of two or three characters, those pass that Node would write', () => {
  const characters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/= é\n"'
  for (const a of characters) {
    for (const b of characters) {
      for (const text of [a + b, `A${a}${b}`]) {
        assert.equal(isBase64url(text), Buffer.from(text, 'base64url').toString('base64url') === text, JSON.stringify(text))
      }
    }
  }
})

test('a length that no bytes have, padding and line ends are refused', () => {
  for (const text of ['A', 'AAAAA', 'AA==', 'AAA=', 'AAAA\n', '\nAAAA']) assert.equal(isBase64url(text), false, text)
  assert.ok(isBase64url(''))
})
