import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newRoomSecret } from '@atrium/room-client/new-room-secret'
import { formatFragment, parseFragment } from './room-link.ts'

test('a link holds the room and its key, and reads back as them', () => {
  const secret = newRoomSecret()
  assert.match(formatFragment(secret), /^#[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}$/)
  assert.deepEqual(parseFragment(formatFragment(secret)), secret)
  assert.notEqual(newRoomSecret().mk, secret.mk)
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
