import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { JsonError, parseJsonObject, parseStrictJson } from './strict-json.ts'

const refused: Record<string, string> = {
  'a key twice': '{"a":1,"a":2}',
  'a key twice, one escaped': '{"a":1,"\\u0061":2}',
  'a key twice, deep': '[{"x":{"b":1,"c":[],"b":1}}]',
  'a key twice, after a string that looks like JSON': '{"a":"{\\"b\\":1,","b":1,"b":2}',
  'a raw lone surrogate': '{"a":"\ud800"}',
  'a byte order mark': '\ufeff{}',
  'a lone high surrogate': '"\\ud800"',
  'a lone low surrogate in a key': '{"\\udc00":1}',
  'a NUL': '"a\\u0000b"',
  'a NUL in a key': '{"\\u0000":1}',
  'an integer past 2^53': '9007199254740993',
  'a negative integer past 2^53': '[-9007199254740993]',
  'an infinite number': '1e400',
  __proto__: '{"__proto__":{"a":1}}',
  'nesting past the limit': '['.repeat(9) + ']'.repeat(9),
  'nesting of 100,000': '['.repeat(100_000) + ']'.repeat(100_000),
  'broken JSON': '{"a":}',
  nothing: '',
  'two values': '1 2',
  'a comment': '{} // hi',
}

for (const [name, text] of Object.entries(refused)) {
  test(`${name} is refused`, () => assert.throws(() => parseStrictJson(text, { maxDepth: 8 }), JsonError))
}

test('what is wrong is named by its place', () => {
  assert.throws(() => parseStrictJson('{"a":[0,"\\ud800"]}', { maxDepth: 8 }), { path: '/a/1' })
  assert.throws(() => parseStrictJson('{"b":{"c":[1]},"a":[[2],{"d":3},"\\ud800"]}'), { path: '/a/2' })
})

test('strings that look like keys are not counted as keys', () => {
  assert.deepEqual(parseStrictJson('{"a" : "b\\"c\\\\" , "d":["a","a"], "e":"x:y\\\\"}', { maxDepth: 8 }), {
    a: 'b"c\\',
    d: ['a', 'a'],
    e: 'x:y\\',
  })
})

test('all that JSON.stringify writes comes back as it was', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6, noUnicodeString: false, stringUnit: 'binary' }), (value) => {
      const text = JSON.stringify(value)
      let strict: unknown
      try {
        strict = parseStrictJson(text, { maxDepth: 8 })
      } catch (error) {
        // The generator also makes what must be refused; it must be that and nothing else.
        return error instanceof JsonError && /(NUL|surrogate|range|__proto__)/.test(error.message)
      }
      assert.deepEqual(strict, JSON.parse(text))
      return true
    }),
    { numRuns: 2_000 },
  )
})

test('bytes must be UTF-8 without a byte order mark', () => {
  assert.deepEqual(parseStrictJson(Buffer.from('{"a":"ü"}')), { a: 'ü' })
  assert.throws(() => parseStrictJson(Buffer.from('7b2261223a22ff227d', 'hex')), JsonError)
  assert.throws(() => parseStrictJson(Buffer.from('efbbbf7b7d', 'hex')), JsonError)
})

test('a token or a file is one JSON object, as strict, with numbers of any size', () => {
  for (const text of ['[1]', 'null', '{}{}', '{"a":1,"a":2}', `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, '\ufeff{}'])
    assert.equal(parseJsonObject(text), undefined, text.slice(0, 20))
  assert.equal(parseJsonObject(Buffer.from('7b2261223a22ff227d', 'hex')), undefined)
  assert.deepEqual(parseJsonObject('{"exp":1e400,"id":9007199254740993}'), { exp: Infinity, id: 9007199254740992 })
})
