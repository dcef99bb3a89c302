import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatFragment, makeRoomSecret, parseFragment } from './room-link.ts'

test('a link holds the room and its key, and reads back as them', () => {
  const secret = makeRoomSecret()
  assert.match(formatFragment(secret), /^#[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}$/)
  assert.deepEqual(parseFragment(formatFragment(secret)), secret)
  assert.notEqual(makeRoomSecret().mk, secret.mk)
})

test('a link that was cut, or is none, is not taken for one', () => {
  for (const fragment of [
    '',
    '#',
    '#room',
    '#room.',
    '#.q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQ',
    '#room.short',
    '#a b.q83vEjRWeJCrze8SNFZ4kKvN',
  ])
    assert.equal(parseFragment(fragment), undefined, fragment)
})
