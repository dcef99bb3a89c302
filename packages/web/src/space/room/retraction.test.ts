import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Member } from '@atrium/room-client/listed-types'
import type { Author, Entry } from '@atrium/room-client/space-ops'
import { formatRetraction, parseRetraction, Retractions } from './retraction.ts'

const ANN: Author = { kind: 'anonymous', key: 'k'.repeat(43), proven: true }
let seq = 0
const entry = (author: Author, text: string, reply_to?: string): Entry => ({
  seq: ++seq,
  id: `e${seq}`,
  at: '2026-11-22T10:00:00.000Z',
  author,
  message: { text, ...(reply_to !== undefined && { reply_to }) },
})
const retract = (author: Author, { id }: Entry) => entry(author, formatRetraction(id), id)

function marksOf(...batches: Entry[][]) {
  const byId = new Map<string, Entry>()
  const retractions = new Retractions(byId)
  for (const batch of batches) {
    for (const one of batch) byId.set(one.id, one)
    retractions.add(batch)
  }
  return retractions.marks
}

const AUTHORS: [string, Author, Author, boolean][] = [
  ['a guest with a proven key', ANN, ANN, true],
  ['a guest who names the key of another without a proof', ANN, { kind: 'anonymous', key: ANN.key! }, false],
  ['a guest whose message was not proven', { kind: 'anonymous', key: ANN.key! }, ANN, false],
  ['another guest of the same claimed name', { ...ANN, name: 'Ann' }, { ...ANN, name: 'Ann', key: 'x'.repeat(43) }, false],
  ['guests without keys', { kind: 'anonymous' }, { kind: 'anonymous' }, false],
  [
    'an account, from another device',
    { kind: 'account', email: 'a@x.example', key: 'a' },
    { kind: 'account', email: 'a@x.example', key: 'b' },
    true,
  ],
  ['another account', { kind: 'account', email: 'a@x.example' }, { kind: 'account', email: 'b@x.example' }, false],
  ['an account with the key of a guest', ANN, { ...ANN, kind: 'account', email: 'a@x.example' }, false],
  ['an agent', { kind: 'agent', id: 'agt_a' }, { kind: 'agent', id: 'agt_a', name: 'Other' }, true],
  ['another agent', { kind: 'agent', id: 'agt_a' }, { kind: 'agent', id: 'agt_b' }, false],
]
for (const [who, first, second, isHidden] of AUTHORS)
  test(`${who} ${isHidden ? 'takes back a message' : 'takes nothing back'}`, () => {
    const original = entry(first, 'Hello')
    const retraction = retract(second, original)
    const expected = isHidden
      ? [
          [retraction.id, 'notice'],
          [original.id, 'hidden'],
        ]
      : []
    assert.deepEqual([...marksOf([original], [retraction])], expected)
    assert.deepEqual([...marksOf([original, retraction])], expected)
    // The newest messages are loaded first.
    assert.deepEqual(new Map(marksOf([retraction], [original])), new Map(expected as [string, 'hidden'][]))
  })

test('a device in a room with a list retracts what it wrote before its member was known', () => {
  const listed = (one: Entry, key: string): Entry => {
    const member = { key, standing: { ok: false, reason: 'unsigned' } } satisfies Member
    return Object.assign(one, { member })
  }
  const device = ANN.key ?? ''
  const account: Author = { kind: 'account', email: 'a@x.example', key: device, proven: true }
  const original = listed(entry(ANN, 'Hello'), device)
  const retraction = listed(retract(account, original), device)
  assert.equal(marksOf([original], [retraction]).get(original.id), 'hidden')
  const other = 'x'.repeat(43)
  const forged = listed(retract({ ...account, key: other }, original), other)
  assert.equal(marksOf([original], [forged]).get(original.id), undefined)
})

test('a retraction of what is not loaded waits, and a forged one becomes a message once it is', () => {
  const original = entry(ANN, 'Hello')
  const forged = retract({ ...ANN, key: 'x'.repeat(43) }, original)
  assert.deepEqual([...marksOf([forged])], [[forged.id, 'unloaded']])
  assert.deepEqual([...marksOf([forged], [original])], [])
})

test('only the exact form is one, and only of what came before', () => {
  const original = entry(ANN, 'Hello')
  for (const text of [
    '{"type":"atrium.retract"}',
    `{"type":"atrium.retract","id":"e0"}`,
    `{"id":"${original.id}"}`,
    '{',
    '[]',
    'null',
  ])
    assert.equal(parseRetraction(entry(ANN, text, original.id)), undefined, text)
  assert.equal(parseRetraction(entry(ANN, formatRetraction(original.id))), undefined, 'no reply')
  const early = retract(ANN, { ...original, id: `e${seq + 2}` })
  assert.deepEqual([...marksOf([early, entry(ANN, 'Later')])], [])
})
