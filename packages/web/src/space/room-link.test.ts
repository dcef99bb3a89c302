import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newRoomSecret } from '@atrium/room-client/new-room-secret'
import { formatFragment, parseFragment } from './room-link.ts'

test('a link holds the room and its key, and reads back as them', () => {
  for (const [kind, form] of [
    ['classic', /^#[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}$/],
    ['client-sealed', /^#[A-Za-z0-9_-]{22}~[A-Za-z0-9_-]{43}$/],
  ] as const) {
    const link = { ...newRoomSecret(), kind }
    assert.match(formatFragment(link), form)
    assert.deepEqual(parseFragment(formatFragment(link)), link)
    assert.notEqual(newRoomSecret().mk, link.mk)
  }
})

test('the link for a second device of a member has the first one, which is no part of the room', () => {
  const [owner, first] = ['A'.repeat(43), 'B'.repeat(43)]
  const link = { room: 'lantern', mk: `~${owner}`, kind: 'listed' as const }
  assert.deepEqual(parseFragment(`#lantern~~${owner}`), link)
  assert.deepEqual(parseFragment(`#lantern~~${owner}~${first}`), { ...link, first })
  assert.equal(formatFragment({ ...link, first }), `#lantern~~${owner}`)
})

test('a link that was cut, or is none, is not taken for one', () => {
  for (const fragment of [
    '',
    '#',
    '#room',
    '#room.',
    '#.q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQ',
    '#room.short',
    '#room~',
    '#room~short',
    '#a b.q83vEjRWeJCrze8SNFZ4kKvN',
  ])
    assert.equal(parseFragment(fragment), undefined, fragment)
})
