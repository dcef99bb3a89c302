import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { DamagedLine } from './damaged-line.ts'
import { encodeHeader, formatLine, isLineHash, parseLine } from './line.ts'

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length }).map(base64url)
const position = fc.oneof(
  fc.constant({ seq: 0 }),
  fc.record({ seq: fc.maxSafeInteger().map((n) => Math.abs(n) || 1), prev: bytes(32) }),
)
const parts = fc.record({
  header: position.map(encodeHeader),
  encryptedKey: bytes(40),
  iv: bytes(12),
  ciphertext: fc.uint8Array({ maxLength: 300 }).map(base64url),
  tag: bytes(16),
})

function base64url(bytes: Uint8Array | string): string {
  return Buffer.from(bytes).toString('base64url')
}

const prev = base64url('p'.repeat(32))
const example = {
  header: encodeHeader({ seq: 7, prev }),
  encryptedKey: base64url('k'.repeat(40)),
  iv: base64url('i'.repeat(12)),
  ciphertext: base64url('ciphertext'),
  tag: base64url('t'.repeat(16)),
}
const line = formatLine(example)

test('a parsed line has the parts that it was made from', () => {
  fc.assert(
    fc.property(parts, position, (parts, position) => {
      const header = encodeHeader(position)
      assert.deepEqual(parseLine(formatLine({ ...parts, header })), { ...parts, header, ...position })
    }),
    { numRuns: 500 },
  )
})

test('a line is a JWE in general JSON serialisation, with its members in one order', () => {
  assert.equal(line.includes('\n'), false)
  const jwe = JSON.parse(line) as { protected: string }
  assert.equal(JSON.stringify(jwe), line)
  assert.deepEqual(Object.keys(jwe), ['protected', 'recipients', 'iv', 'ciphertext', 'tag'])
  assert.equal(Buffer.from(jwe.protected, 'base64url').toString(), `{"enc":"A256GCM","seq":7,"prev":"${prev}"}`)
  assert.equal(Buffer.from(encodeHeader({ seq: 0 }), 'base64url').toString(), '{"enc":"A256GCM","seq":0}')
})

test('whatever passes is exactly what formatLine writes, also after random edits', () => {
  const edit = fc.record({ at: fc.nat(line.length), cut: fc.nat(3), put: fc.string({ maxLength: 3 }) })
  let passed = 0
  fc.assert(
    fc.property(edit, ({ at, cut, put }) => {
      const edited = line.slice(0, at) + put + line.slice(at + cut)
      try {
        const { header, encryptedKey, iv, ciphertext, tag } = parseLine(edited)
        assert.equal(formatLine({ header, encryptedKey, iv, ciphertext, tag }), edited)
        passed++
      } catch (error) {
        assert.ok(error instanceof DamagedLine, String(error))
      }
    }),
    { numRuns: 5000 },
  )
  assert.ok(passed > 0)
})

const withHeader = (json: string) => formatLine({ ...example, header: base64url(json) })
const damaged: readonly [string, string][] = [
  ['nothing', ''],
  ['no JSON', 'x'],
  ['null', 'null'],
  ['a list', '[]'],
  ['a nested list', '['.repeat(100_000)],
  ['a compact JWE', 'a.b.c.d.e'],
  ['a space', line.replace(':', ': ')],
  ['a newline at its end', `${line}\n`],
  ['a byte order mark', `\uFEFF${line}`],
  ['another member', line.replace('}]', '}],"unprotected":{}')],
  ['aad', line.replace(',"tag"', ',"aad":"","tag"')],
  ['a repeated member', line.replace('"iv"', '"iv":"AAAAAAAAAAAAAAAA","iv"')],
  [
    'members in another order',
    JSON.stringify({ ...(JSON.parse(line) as object), protected: undefined, ...JSON.parse(line) }).replace(
      /^\{("protected":"[^"]*"),(.*)\}$/,
      '{$2,$1}',
    ),
  ],
  ['an escape', line.replace('"room"', '"\\u0072oom"')],
  ['no recipient', line.replace(/"recipients":\[.*\],"iv"/, '"recipients":[],"iv"')],
  ['two recipients', line.replace(/(\{"header".*?\})\]/, '$1,$1]')],
  [
    'a recipient beside the room',
    line.replace(/(\{"header".*?\})\]/, (_, one: string) => `${one},${one.replace('room', 'admin')}]`),
  ],
  ['another recipient', line.replace('"room"', '"admin"')],
  ['another algorithm', line.replace('A256KW', 'A128KW')],
  ['a recipient without a header', line.replace('"header":{"alg":"A256KW","kid":"room"},', '')],
  ['flattened', line.replace('"recipients":[{', '').replace('}],', ',')],
  ['a list for a text', line.replace(/"iv":("[^"]*")/, '"iv":[$1]')],
  ['lists nested deep for a text', line.replace(/"iv":"[^"]*"/, `"iv":${'['.repeat(100_000)}${']'.repeat(100_000)}`)],
  ['padding', formatLine({ ...example, tag: `${example.tag}==` })],
  ['stray bits in the tag', formatLine({ ...example, tag: `${example.tag.slice(0, -1)}B` })],
  ['stray bits in the ciphertext', formatLine({ ...example, ciphertext: 'AB' })],
  ['a ciphertext of impossible length', formatLine({ ...example, ciphertext: 'A' })],
  ['base64 of the other alphabet', formatLine({ ...example, ciphertext: 'AA+/' })],
  ['a short tag', formatLine({ ...example, tag: base64url('t'.repeat(12)) })],
  ['a long tag', formatLine({ ...example, tag: base64url('t'.repeat(17)) })],
  ['a long iv', formatLine({ ...example, iv: base64url('i'.repeat(16)) })],
  ['a short key', formatLine({ ...example, encryptedKey: base64url('k'.repeat(24)) })],
  ['no header', formatLine({ ...example, header: '' })],
  ['a huge header', withHeader(`{"enc":"A256GCM","seq":0}${' '.repeat(1_000_000)}`)],
  ['spaces in the header', withHeader('{"enc":"A256GCM", "seq":0}')],
  ['another encryption', withHeader('{"enc":"A128GCM","seq":0}')],
  ['zip', withHeader('{"enc":"A256GCM","zip":"DEF","seq":0}')],
  ['crit', withHeader('{"crit":["x"],"enc":"A256GCM","seq":0}')],
  ['no seq', withHeader('{"enc":"A256GCM"}')],
  ['seq as text', withHeader('{"enc":"A256GCM","seq":"0"}')],
  ['seq below 0', withHeader('{"enc":"A256GCM","seq":-1}')],
  ['seq with a leading zero', withHeader(`{"enc":"A256GCM","seq":07,"prev":"${prev}"}`)],
  ['seq past 2^53', withHeader(`{"enc":"A256GCM","seq":9007199254740992,"prev":"${prev}"}`)],
  ['seq as a fraction', withHeader(`{"enc":"A256GCM","seq":1.5,"prev":"${prev}"}`)],
  ['line 0 with prev', withHeader(`{"enc":"A256GCM","seq":0,"prev":"${prev}"}`)],
  ['line 1 without prev', withHeader('{"enc":"A256GCM","seq":1}')],
  ['prev with stray bits', withHeader(`{"enc":"A256GCM","seq":1,"prev":"${prev.slice(0, -1)}B"}`)],
  ['a short prev', withHeader(`{"enc":"A256GCM","seq":1,"prev":"${prev.slice(1)}"}`)],
]

test('the line that the others are made from passes', () => {
  assert.deepEqual(parseLine(line), { ...example, seq: 7, prev })
  assert.deepEqual(parseLine(withHeader('{"enc":"A256GCM","seq":0}')).seq, 0)
})

for (const [name, text] of damaged) {
  test(`refused: ${name}`, () => {
    assert.notEqual(text, line)
    assert.throws(() => parseLine(text), DamagedLine)
  })
}

test('a header of an impossible position is not written', () => {
  const bad = [{ seq: -1 }, { seq: 0.5 }, { seq: Number.NaN }, { seq: 1 }, { seq: 0, prev }, { seq: 2 ** 53, prev }]
  for (const position of [...bad, { seq: 1, prev: 'x' }, { seq: 1, prev: `${prev}=` }, { seq: 1, prev: '"'.repeat(43) }]) {
    assert.throws(() => encodeHeader(position), TypeError)
  }
  assert.ok(isLineHash(prev))
})
