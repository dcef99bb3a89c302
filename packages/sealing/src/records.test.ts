import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { InvalidRecord } from './invalid-record.ts'
import {
  type Author,
  formatRecord,
  MAX_TEXT_BYTES,
  parseRecord,
  type PolicyRecord,
  type RoomRecord,
  type TurnRecord,
} from './records.ts'

const at = '2026-11-20T09:30:00.000Z'
const key = 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
const agentId = 'agt_4fRzK0vXcB1mQwErTy7uPa'

const open: PolicyRecord = { t: 'policy', policy: 'open', at }
const list: PolicyRecord = {
  t: 'policy',
  policy: 'email',
  owner: { email: 'ann@example.com' },
  allow: [
    { email: 'ann@example.com', admitted_at: at },
    { email: 'bob@example.com', admitted_at: at, revoked_at: at },
  ],
  agents: [{ id: agentId, admitted_at: at }],
  title: 'Lantern night',
  require_proof: true,
  at,
}
const turn: TurnRecord = { t: 'turn', id: 'e1', at, author: { kind: 'anonymous' }, message: { text: 'The lamps are lit.' } }

const authors: Author[] = [
  { kind: 'anonymous', name: 'Ada' },
  { kind: 'anonymous', key, proven: true },
  { kind: 'account', email: 'ann@example.com', name: 'Ann', key, proven: true },
  { kind: 'agent', id: agentId, name: 'Keeper', key },
]
const good: RoomRecord[] = [
  open,
  { ...open, owner: { key }, title: '☀️'.repeat(100) },
  { ...open, owner: { email: 'ann@example.com' }, require_proof: true },
  { ...open, title: '😀'.repeat(200) },
  list,
  { ...list, allow: [], agents: [] },
  turn,
  { ...turn, message: { text: 'x'.repeat(MAX_TEXT_BYTES), reply_to: 'e0', client_id: 'c 1' } },
  { ...turn, message: { text: 'é'.repeat(MAX_TEXT_BYTES / 2) } },
  ...authors.map((author) => ({ ...turn, author })),
]

test('a record reads back as it was written, from text and from bytes', () => {
  for (const record of good) {
    const json = formatRecord(record)
    assert.deepEqual(JSON.parse(json), record)
    assert.deepEqual(parseRecord(json), record)
    assert.deepEqual(parseRecord(Buffer.from(json)), record)
  }
})

test('members are written in one order', () => {
  const reversed = Object.fromEntries(Object.entries(list).toReversed()) as unknown as RoomRecord
  assert.equal(formatRecord(reversed), formatRecord(list))
  assert.match(formatRecord(turn), /^\{"t":"turn","id":"e1","at":"[^"]*","author":\{"kind":"anonymous"\},"message":\{"text":/)
})

const bad: readonly [string, string, unknown][] = [
  ['null', '/t', null],
  ['a list', '/t', []],
  ['no type', '/t', { ...turn, t: undefined }],
  ['another type', '/t', { ...turn, t: 'toString' }],
  ['a member that is not known', '', { ...turn, extra: 1 }],
  ['__proto__', '', JSON.parse(JSON.stringify(turn).replace('{', '{"__proto__":{},'))],
  ['another policy', '/policy', { ...open, policy: 'public' }],
  ['an e-mail room without list', '', { ...list, allow: undefined }],
  ['an e-mail room without owner', '', { ...list, owner: undefined }],
  ["an e-mail room of a key's", '', { ...list, owner: { key } }],
  ['an open room with a list', '', { ...open, allow: [] }],
  ['an open room with agents', '', { ...open, agents: [] }],
  ['an owner that is both', '/owner', { ...open, owner: { email: 'ann@example.com', key } }],
  ['an owner that is neither', '/owner/email', { ...open, owner: {} }],
  ['an owner that is null', '/owner', { ...open, owner: null }],
  ['a key that is no thumbprint', '/owner/key', { ...open, owner: { key: 'x' } }],
  ['a member twice', '/allow', { ...list, allow: [list.allow![0], list.allow![0]] }],
  ['an agent twice', '/agents', { ...list, agents: [list.agents![0], list.agents![0]] }],
  ['a member without a time', '/allow/0/admitted_at', { ...list, allow: [{ email: 'a@b' }] }],
  ['a member of other shape', '/allow/0', { ...list, allow: [{ email: 'a@b', admitted_at: at, role: 'x' }] }],
  ['an address that is none', '/allow/0/email', { ...list, allow: [{ email: 'a b@c', admitted_at: at }] }],
  ['a list that is none', '/allow', { ...list, allow: {} }],
  ['an agent id of another kind', '/agents/0/id', { ...list, agents: [{ id: 'ten_4fRzK0vXcB1mQwErTy7uPa', admitted_at: at }] }],
  ['require_proof false', '/require_proof', { ...open, require_proof: false }],
  ['an empty title', '/title', { ...open, title: '' }],
  ['a long title', '/title', { ...open, title: 'x'.repeat(201) }],
  ['a long title of pairs', '/title', { ...open, title: '😀'.repeat(201) }],
  ['no time', '/at', { ...open, at: undefined }],
  ['another spelling of a time', '/at', { ...open, at: '2026-11-20T09:30:00Z' }],
  ['a time elsewhere', '/at', { ...open, at: '2026-11-20T10:30:00.0+01' }],
  ['a day that is none', '/at', { ...open, at: '2026-02-30T09:30:00.000Z' }],
  ['a time as a number', '/at', { ...turn, at: 1 }],
  ['an id with a space', '/id', { ...turn, id: 'a b' }],
  ['no author', '/author/kind', { ...turn, author: {} }],
  ['an author of another kind', '/author/kind', { ...turn, author: { kind: 'admin' } }],
  ['an account without address', '/author/email', { ...turn, author: { kind: 'account' } }],
  ['an anonymous address', '/author', { ...turn, author: { kind: 'anonymous', email: 'ann@example.com' } }],
  ['an agent without id', '/author/id', { ...turn, author: { kind: 'agent' } }],
  ['proven without a key', '/author', { ...turn, author: { kind: 'anonymous', proven: true } }],
  ['proven false', '/author/proven', { ...turn, author: { kind: 'anonymous', key, proven: false } }],
  ['no message', '/message', { ...turn, message: undefined }],
  ['no text', '/message/text', { ...turn, message: { text: '' } }],
  ['a long text', '/message/text', { ...turn, message: { text: 'x'.repeat(MAX_TEXT_BYTES + 1) } }],
  ['a text that is long in UTF-8', '/message/text', { ...turn, message: { text: `é${'é'.repeat(MAX_TEXT_BYTES / 2)}` } }],
  ['a lone surrogate', '/message/text', { ...turn, message: { text: 'a\ud800' } }],
  ['NUL', '/message/text', { ...turn, message: { text: 'a\0' } }],
  ['a long client_id', '/message/client_id', { ...turn, message: { text: 'a', client_id: 'c'.repeat(101) } }],
  ['a reply to null', '/message/reply_to', { ...turn, message: { text: 'a', reply_to: null } }],
]

for (const [name, path, value] of bad) {
  test(`neither written nor read: ${name}`, () => {
    const rejection = (error: unknown) =>
      error instanceof InvalidRecord && (error.path === path || value === null || path === '/t')
    assert.throws(() => formatRecord(value as RoomRecord), rejection)
    assert.throws(() => parseRecord(JSON.stringify(value)), rejection)
  })
}

test('one record has one text', () => {
  const json = formatRecord(turn)
  const others = [
    `${json} `,
    ` ${json}`,
    `\uFEFF${json}`,
    json.replace('"e1"', '"\\u00651"'),
    json.replace('"id"', '"id":"e0","id"'),
    json.replace('{"t":"turn",', '{').replace(/\}$/, ',"t":"turn"}'),
  ]
  for (const other of [...others, '', 'x', '[', '['.repeat(100_000)]) {
    assert.throws(() => parseRecord(other), InvalidRecord, other.slice(0, 200))
    assert.throws(() => parseRecord(Buffer.from(other)), InvalidRecord, other.slice(0, 200))
  }
  assert.throws(() => parseRecord(Buffer.from(json.replace('lamps', 'l\xe4mps'), 'latin1')), InvalidRecord)
})

test('no rejection quotes what it rejects', () => {
  const secretText = 'a secret that someone typed\0'
  assert.throws(
    () => formatRecord({ ...turn, message: { text: secretText } }),
    (error: Error) => !error.message.includes('secret'),
  )
})

test('any text that JSON can carry goes through', () => {
  const text = fc.string({ unit: 'binary', minLength: 1 }).filter((value) => !value.includes('\0'))
  fc.assert(
    fc.property(text, fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('9999-12-31') }), (text, date) => {
      const record: TurnRecord = { ...turn, at: date.toISOString(), message: { text } }
      assert.deepEqual(parseRecord(Buffer.from(formatRecord(record))), record)
    }),
    { numRuns: 1000 },
  )
})

test('whatever is read was written so', () => {
  fc.assert(
    fc.property(fc.json(), fc.nat(), fc.nat(3), fc.string({ maxLength: 3 }), (json, at, cut, put) => {
      const whole = formatRecord(list)
      const place = at % whole.length
      for (const text of [json, whole.slice(0, place) + put + whole.slice(place + cut)]) {
        try {
          assert.equal(formatRecord(parseRecord(text)), text)
        } catch (error) {
          assert.ok(error instanceof InvalidRecord, String(error))
        }
      }
    }),
    { numRuns: 2000 },
  )
})
