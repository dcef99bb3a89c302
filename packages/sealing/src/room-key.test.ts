import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import type { WebCryptoKey } from './web-crypto-key.ts'
import { test } from 'node:test'
import fc from 'fast-check'
import { dedupeToken, deriveDedupeKey } from './dedupe-token.ts'
import { deriveRoomKey } from './room-key.ts'
import { isMk, isRoomName } from './room-secret.ts'
import { secret } from './testing/room.ts'
import { deriveRoomKey as deriveWebRoomKey } from './web-room-key.ts'

/** RFC 5869 for one block of output, from HMAC alone. */
function hkdf(ikm: string, salt: string, info: string): string {
  const prk = createHmac('sha256', salt).update(ikm).digest()
  return createHmac('sha256', prk).update(info).update('\x01').digest('hex')
}

const room = fc.stringMatching(/^[A-Za-z0-9_-]{1,128}$/)
const mk = fc.stringMatching(/^[!-~]{22,80}$/)

test('the room key is HKDF-SHA-256 of mk, salted with the room', () => {
  fc.assert(
    fc.property(room, mk, (room, mk) => {
      assert.equal(deriveRoomKey({ room, mk }).export().toString('hex'), hkdf(mk, room, 'atrium/room/v1'))
      assert.equal(deriveDedupeKey({ room, mk }).export().toString('hex'), hkdf(mk, room, 'atrium/room/dedupe/v1'))
    }),
  )
})

test('the key of a known room never changes', () => {
  const expected = '42bba402618318f2a630cab49b675c674c8c8df0ba5e8aa3b78f807a9b5ba06d'
  assert.equal(deriveRoomKey(secret).export().toString('hex'), expected)
})

test('Web Crypto derives the same key, and does not give it away', async () => {
  const webKey = await deriveWebRoomKey(secret)
  assert.equal(webKey.extractable, false)
  const nodeKey = deriveRoomKey(secret).toCryptoKey('AES-KW', false, ['wrapKey'])
  const content = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, true, ['encrypt'])
  const wrap = (key: WebCryptoKey) => crypto.subtle.wrapKey('raw', content, key, 'AES-KW')
  assert.deepEqual(await wrap(webKey), await wrap(nodeKey))
})

const badRooms = ['', 'a'.repeat(129), 'a b', 'a/b', 'a.b', 'é', 'a\n', '\na', 'a\0', undefined, null, 7, ['abc']]
const badMks = ['', 'a'.repeat(21), 'a'.repeat(513), `${'a'.repeat(22)} `, `${'a'.repeat(22)}\n`, `${'a'.repeat(22)}é`]
const noTextMks = ['\x7f'.repeat(22), '\0'.repeat(22), undefined, null, 1e30, ['a'.repeat(22)]]

test('a room name or mk of another form is refused, in Node and on the Web, and not quoted', async () => {
  for (const room of badRooms) assert.equal(isRoomName(room), false, JSON.stringify(room))
  for (const mk of [...badMks, ...noTextMks]) assert.equal(isMk(mk), false, JSON.stringify(mk))
  for (const name of ['a', 'A-b_9', 'x'.repeat(128)]) assert.ok(isRoomName(name))
  for (const text of ['a'.repeat(22), '!~#"\\'.repeat(5), 'a'.repeat(512)]) assert.ok(isMk(text))
  const bad = [...badRooms.map((room) => ({ ...secret, room })), ...[...badMks, ...noTextMks].map((mk) => ({ ...secret, mk }))]
  for (const one of bad as (typeof secret)[]) {
    assert.throws(() => deriveRoomKey(one), TypeError)
    assert.throws(() => deriveDedupeKey(one), TypeError)
    await assert.rejects(deriveWebRoomKey(one), TypeError)
  }
  const short = 'hunter2-hunter2'
  assert.throws(
    () => deriveRoomKey({ room: 'r', mk: short }),
    (error: Error) => !error.message.includes(short),
  )
})

test('a token repeats for the same author and client_id only', () => {
  const key = deriveDedupeKey(secret)
  const token = (author: string, clientId: string, k = key) => dedupeToken({ key: k, author, clientId })
  assert.match(token('', 'c-1'), /^[A-Za-z0-9_-]{43}$/)
  assert.equal(token('ann@example.com', 'c-1'), token('ann@example.com', 'c-1', deriveDedupeKey(secret)))
  const others = [
    token('ann@example.com', 'c-2'),
    token('bob@example.com', 'c-1'),
    token('', 'c-1'),
    token('', 'ann@example.comc-1'),
    token('ann@example.comc', '-1'),
    token('ann@example.com","c-1', ''),
    token('ann@example.com', 'c-1', deriveDedupeKey({ ...secret, room: 'other' })),
    token('ann@example.com', 'c-1', deriveDedupeKey({ ...secret, mk: `${secret.mk}A` })),
    token('ann@example.com', 'c-1', deriveRoomKey(secret)),
  ]
  assert.equal(new Set([...others, token('ann@example.com', 'c-1')]).size, others.length + 1)
})
