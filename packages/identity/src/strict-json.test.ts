import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseJsonObject, parseJsonObjectBytes } from './strict-json.ts'

const refused: readonly [string, string][] = [
  ['a repeated key', '{"a":1,"a":2}'],
  ['a repeated key, spelled with an escape', '{"a":1,"\\u0061":2}'],
  ['a repeated key further in', '{"x":[{"b":{"c":1,"d":[],"c":2}}]}'],
  ['a repeated key after a string that looks like JSON', '{"a":"{\\"b\\":1,","b":1,"b":2}'],
  ['a repeated __proto__', '{"__proto__":1,"__proto__":2}'],
  ['a lone surrogate, escaped', '{"a":"\\ud800"}'],
  ['a lone surrogate, raw', '{"a":"\ud800"}'],
  ['NUL', '{"a":["\\u0000"]}'],
  ['an array', '[1]'],
  ['null', 'null'],
  ['two values', '{}{}'],
  ['a byte order mark', '\ufeff{}'],
  ['a comment', '{/**/}'],
]

for (const [name, text] of refused) {
  test(`refuses ${name}`, () => assert.equal(parseJsonObject(text), undefined))
}

test('equal keys in different objects, and values equal to keys, are no repetition', () => {
  const text = '{"a":{"a":"a"},"b":["a","b","a",{"a":1},{"a":2}],"c":"a", "d" : "\\"a\\":"}'
  assert.deepEqual(parseJsonObject(text), JSON.parse(text))
})

test('bytes that are not UTF-8 are refused', () => {
  assert.equal(parseJsonObjectBytes(Buffer.from('7b2261223a22ff227d', 'hex')), undefined)
  assert.equal(parseJsonObjectBytes(Buffer.from('efbbbf7b7d', 'hex')), undefined)
})

test('depth costs no stack', () => {
  const depth = 100_000
  assert.ok(parseJsonObject(`{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`))
})

test('whatever JSON.stringify writes of an object is read back the same', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const text = JSON.stringify(value, null, 1)
      if (!text.includes('\\u0000')) assert.deepEqual(parseJsonObject(text), JSON.parse(text))
    }),
  )
})
