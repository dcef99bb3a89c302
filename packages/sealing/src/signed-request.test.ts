import assert from 'node:assert/strict'
import { test } from 'node:test'
import { placeLine, signaturePayload, signedContent } from './signed-request.ts'

const request = { op: 'append', room: 'lantern', signature: 'x', line: '{"a":"é"}', dedupe: 'd', limit: 5, absent: undefined }

test('the content is the other members in the order of RFC 8785', () => {
  assert.equal(signedContent(request), '{"dedupe":"d","limit":5,"line":"{\\"a\\":\\"é\\"}"}')
  assert.equal(signedContent({ op: 'read', room: 'lantern', signature: 'x' }), '{}')
})

test('the payload names service, method, op, room, second and content', () => {
  const signed = { audience: 'https://rooms.example', sha256: 'h', nowMs: 1_790_000_000_999 }
  assert.equal(
    signaturePayload(request, signed),
    '{"aud":"https://rooms.example","htm":"POST","op":"append","room":"lantern","iat":1790000000,"sha256":"h"}',
  )
})

test('the place of a line is its second member', () => {
  const line = '{"protected":"eyJ9","encrypted_key":"k","iv":"i","ciphertext":"c","tag":"t"}'
  const rest = ',"encrypted_key":"k","iv":"i","ciphertext":"c","tag":"t"}'
  assert.equal(placeLine(line, { seq: 0 }), `{"protected":"eyJ9","unprotected":{"seq":0}${rest}`)
  assert.equal(placeLine(line, { seq: 7, prev: 'p' }), `{"protected":"eyJ9","unprotected":{"seq":7,"prev":"p"}${rest}`)
})
