import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decodeBase64url, decodeSlowly, encodeBase64url, encodeSlowly, isBase64url } from './base64url.ts'

test('bytes go to the text that Node gives, and back', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const text = Buffer.from(bytes).toString('base64url')
      assert.ok(isBase64url(text))
      for (const encode of [encodeBase64url, encodeSlowly]) assert.equal(encode(bytes), text)
      for (const decode of [decodeBase64url, decodeSlowly]) assert.deepEqual(decode(text), Uint8Array.from(bytes))
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

test('of a text that is not base64url, some bytes are returned, and nothing is thrown', () => {
  for (const text of ['A', '====', 'AA==', 'é', '{"json":1}']) assert.ok(decodeBase64url(text) instanceof Uint8Array, text)
})
