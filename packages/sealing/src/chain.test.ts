import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { checkChain, lineHash, sealLine } from './node-lines.ts'
import { deriveRoomKey } from './room-key.ts'
import { sealAll, secret } from './testing/room.ts'

const key = deriveRoomKey(secret)
const lines = sealAll(key, ['0', '1', '2', '3', '4', '5'])
const hashes = lines.map(lineHash)
const etag = hashes[5]

test('lines as they were sealed hold, from the start and from anywhere', () => {
  for (let from = 0; from <= lines.length; from++) {
    for (let to = from; to <= lines.length; to++) {
      const start = { fromSeq: from, prev: hashes[from - 1], etag: hashes[to - 1] }
      assert.equal(checkChain(lines.slice(from, to), start), undefined, `${from} to ${to}`)
    }
  }
})

const rewritten = sealLine({ key, seq: 2, prev: hashes[1], payload: 'another 2' })
const forked = sealAll(key, ['0', '1', '2', '3', '4', '5'])

const broken: readonly [string, readonly string[], object, ReturnType<typeof checkChain>][] = [
  ['a line missing at the start', lines.slice(1), {}, { seq: 0, problem: 'seq' }],
  ['a line missing in the middle', lines.toSpliced(3, 1), {}, { seq: 3, problem: 'seq' }],
  ['lines missing at the end', lines.slice(0, 4), {}, { seq: 3, problem: 'etag' }],
  ['all lines missing', [], {}, { seq: 0, problem: 'etag' }],
  ['a line too many', [...lines, lines[5]!], {}, { seq: 6, problem: 'seq' }],
  ['a line twice', lines.toSpliced(2, 0, lines[2]!), {}, { seq: 3, problem: 'seq' }],
  ['two lines exchanged', lines.with(2, lines[3]!).with(3, lines[2]!), {}, { seq: 2, problem: 'seq' }],
  ['a line sealed anew by who has the key: the next tells', lines.with(2, rewritten), {}, { seq: 3, problem: 'prev' }],
  ['the last line sealed anew', lines.with(5, forked[5]!), {}, { seq: 5, problem: 'prev' }],
  ['a whole history sealed anew', forked, {}, { seq: 5, problem: 'etag' }],
  ['a tail of another history', [...lines.slice(0, 3), ...forked.slice(3)], {}, { seq: 3, problem: 'prev' }],
  ['a line that is none', lines.with(4, '{}'), {}, { seq: 4, problem: 'form' }],
  ['an empty line', [...lines, ''], {}, { seq: 6, problem: 'form' }],
  ['another prev at the start', lines.slice(2), { fromSeq: 2, prev: hashes[0] }, { seq: 2, problem: 'prev' }],
  ['no prev at a later start', lines.slice(2), { fromSeq: 2, prev: undefined }, { seq: 2, problem: 'prev' }],
  ['a prev before line 0', lines, { prev: hashes[0] }, { seq: 0, problem: 'prev' }],
  ['nothing new, under another etag', [], { fromSeq: 5, prev: hashes[4] }, { seq: 5, problem: 'etag' }],
]

for (const [name, given, start, expected] of broken) {
  test(`noticed: ${name}`, () => assert.deepEqual(checkChain(given, { fromSeq: 0, etag, ...start }), expected))
}

test('without an etag, an end that is missing cannot be seen', () => {
  assert.equal(checkChain(lines.slice(0, 4), { fromSeq: 0 }), undefined)
})

test('only the lines as they were pass under their etag', () => {
  const pick = fc.array(fc.constantFrom(...lines, ...forked, rewritten), { maxLength: 8 })
  const shuffled = fc.shuffledSubarray([...lines], { minLength: 0 })
  fc.assert(
    fc.property(fc.oneof(pick, shuffled, fc.constant(lines)), (given) => {
      const isSame = given.length === lines.length && given.every((line, i) => line === lines[i])
      assert.equal(checkChain(given, { fromSeq: 0, etag }) === undefined, isSame)
    }),
    { numRuns: 1000 },
  )
})
