import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Entry } from '@atrium/room-client/space-ops'
import { CHUNK_LINES, mergeEntries } from './chunks.ts'

const entry = (seq: number): Entry => ({
  seq,
  id: `e${seq}`,
  at: '2026-11-20T09:30:00.000Z',
  author: { kind: 'anonymous' },
  message: { text: 'x' },
})

test('whatever the order and however often they come, entries end up once and in order', () => {
  fc.assert(
    fc.property(fc.array(fc.array(fc.nat(500))), (pages) => {
      const chunks = pages.reduce((chunks, page) => mergeEntries(chunks, page.map(entry)), mergeEntries([], []))
      const seqs = chunks.flatMap(({ entries }) => entries.map(({ seq }) => seq))
      assert.deepEqual(
        seqs,
        [...new Set(pages.flat())].sort((a, b) => a - b),
      )
    }),
  )
})

test('a new message changes the last chunk and no other', () => {
  const before = mergeEntries(
    [],
    Array.from({ length: CHUNK_LINES * 3 + 5 }, (_, i) => entry(i)),
  )
  const after = mergeEntries(before, [entry(CHUNK_LINES * 3 + 5)])
  assert.deepEqual(
    after.map((chunk, i) => chunk === before[i]),
    [true, true, true, false],
  )
  assert.ok(mergeEntries(before, [entry(3)]).every((chunk, i) => chunk === before[i]))
})
