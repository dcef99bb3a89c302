import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withNewest } from './use-pages.ts'

const page = (nextCursor: string | undefined, ...texts: string[]) => ({
  rows: texts.map((text) => ({ id: text[0], text })),
  nextCursor,
})
const merged = (...pages: [ReturnType<typeof page>, ReturnType<typeof page>]) => withNewest(...pages, ({ id }) => id ?? '')

test('new rows come first, known rows are replaced, and older pages stay with their cursor', () => {
  assert.deepEqual(merged(page('old', 'c', 'b', 'a'), page('new', 'd', 'c!', 'b')), page('old', 'd', 'c!', 'b', 'a'))
})

test('a list whose newest page is all new begins anew, so that no row between is missing', () => {
  assert.deepEqual(merged(page('old', 'b', 'a'), page('new', 'z', 'y')), page('new', 'z', 'y'))
  assert.deepEqual(merged(page('old'), page('new', 'a')), page('new', 'a'))
})

test('rows that a later page had stay while the newest page is empty, and more follow it', () => {
  assert.deepEqual(merged(page('old', 'b', 'a'), page('new')), page('old', 'b', 'a'))
  assert.deepEqual(merged(page('old', 'b', 'a'), page(undefined)), page(undefined))
})

test('a row that has gone from a list of one page goes', () => {
  assert.deepEqual(merged(page(undefined, 'c', 'b', 'a'), page(undefined, 'c', 'a')), page(undefined, 'c', 'a'))
})
