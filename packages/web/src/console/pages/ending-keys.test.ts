import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findEnding } from './ending-keys.ts'

const nowMs = Date.parse('2026-11-20T12:00:00.000Z')
const day = 86_400_000
const at = (days: number) => new Date(nowMs + days * day).toISOString()
const key = (id: string, { expires, replaced, revoked }: { expires?: number; replaced?: string; revoked?: number } = {}) => ({
  id,
  expires_at: expires === undefined ? null : at(expires),
  revoked_at: revoked === undefined ? null : at(revoked),
  replaced_by: replaced ?? null,
})
const ending = (...keys: ReturnType<typeof key>[]) => findEnding(keys, { nowMs, untilMs: nowMs + 7 * day }).map(({ id }) => id)

test('a key that ends within the time is named; one that ends later, ended before, or is revoked is not', () => {
  assert.deepEqual(ending(key('a', { expires: 1 }), key('b')), ['a'])
  assert.deepEqual(ending(key('a', { expires: 8 }), key('b', { expires: -1 }), key('c', { expires: 1, revoked: -1 })), [])
})

test('a rotated key is meant to end, if a key that followed it is valid', () => {
  assert.deepEqual(ending(key('a', { expires: 1, replaced: 'b' }), key('b')), [])
  assert.deepEqual(ending(key('a', { expires: 1, replaced: 'b' }), key('b', { expires: 1, replaced: 'c' }), key('c')), [])
  assert.deepEqual(ending(key('a', { expires: 1, replaced: 'b' }), key('b', { revoked: -1 })), ['a'])
  // Made later, in place of another one.
  assert.deepEqual(ending(key('a', { expires: 1 }), key('b'), key('old', { expires: 1, replaced: 'b' })), ['a'])
  assert.deepEqual(ending(key('a', { expires: 1, replaced: 'b' }), key('b', { expires: 2 })), ['b'])
})
