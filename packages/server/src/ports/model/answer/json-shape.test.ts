import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fitsShape, JsonShape } from './json-shape.ts'

const limits = { nodes: 10, depth: 3 }
const fits = (text: string) => fitsShape(Buffer.from(text), limits)

test('values are counted, and how deep they lie', () => {
  assert.ok(fits('{"a":1,"b":[2,3]}'))
  assert.ok(fits('[[[]]]'))
  assert.equal(fits('[[[[]]]]'), false)
  assert.equal(fits(JSON.stringify(Array.from({ length: 12 }, () => 1))), false)
  assert.equal(fits('['.repeat(1_000_000)), false)
})

test('what lies in strings is text', () => {
  assert.ok(fits(JSON.stringify({ a: '[[[[[,,,,,,,,,,{{{{{' })))
  assert.ok(fits(JSON.stringify(['"'.repeat(30), '\\'.repeat(31), '\\"[[[[['])))
  assert.equal(fits('"\\\\",[[[[1]]]]'), false, 'an escaped backslash does not escape the quote')
})

test('a text may come in pieces, cut anywhere', () => {
  const bytes = Buffer.from(JSON.stringify({ a: '\\"[[[[,,,,,,,,,,', b: [1, 2] }))
  const shape = new JsonShape(limits)
  assert.ok([...bytes].every((byte) => shape.take(Buffer.of(byte))))
})
