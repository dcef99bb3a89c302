import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withNewest } from './use-pages.ts'

const page = (nextCursor: string, ...texts: string[]) => ({ rows: texts.map((text) => ({ id: text[0], text })), nextCursor })
const merged = (...pages: [ReturnType<typeof page>, ReturnType<typeof page>]) => withNewest(...pages, ({ id }) => id ?? '')

test('new rows come first, known rows are replaced, and older pages stay with their cursor', () => {
  assert.deepEqual(merged(page('old', 'c', 'b', 'a'), page('new', 'd', 'c!', 'b')), page('old', 'd', 'c!', 'b', 'a'))
})

test('a list whose newest page is all new begins anew, so that no row between is missing', () => {
  assert.deepEqual(merged(page('old', 'b', 'a'), page('new', 'z', 'y')), page('new', 'z', 'y'))
  assert.deepEqual(merged(page('old'), page('new', 'a')), page('new', 'a'))
})
