import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import { deriveRoomKey } from '@atrium/sealing/room-key'
import { WrongKey } from '@atrium/sealing/wrong-key'
import { generalDecrypt } from 'jose'
import { startTestSpace, type TestSpace } from '../../space/src/testing/test-space.ts'
import { fresh } from '../../space/src/testing/agent-world.ts'
import { makeDeviceKey } from './device-key.ts'
import { openRoom, type Room } from './open-room.ts'
import type { SealedRoom } from './room-call.ts'
import { DamagedHistoryError, openHistory, sealHistory } from './room-history.ts'

let space: TestSpace
let room: Room
let stored: SealedRoom
before(async () => {
  space = await startTestSpace()
  room = openRoom({ spaceUrl: `${space.origin}/space`, ...fresh(), identity: await makeDeviceKey() })
  for (const text of ['The lamps are lit.', '日本 🎉', 'Good night.']) await room.say(text)
  stored = await room.sealed()
})
after(() => space.close())

function withLines(change: (lines: string[]) => string[]): SealedRoom {
  const sealed = change(stored.sealed.split('\n')).join('\n')
  return { ...stored, sealed, sha256: createHash('sha256').update(sealed).digest('hex') }
}

async function damage(changed: SealedRoom, etag?: string): Promise<DamagedHistoryError> {
  const error = await openHistory(room, changed, etag).then(
    () => assert.fail('it opened'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof DamagedHistoryError, String(error))
  return error
}

test('the stored history is unreadable by itself, and the room key opens it', async () => {
  assert.ok(!stored.sealed.includes('lamps') && !stored.sealed.includes(Buffer.from('lamps').toString('base64url')))
  const page = await room.poll()
  const { entries, etag, policy, records } = await openHistory(room, stored, page.etag)
  assert.deepEqual(entries, page.entries)
  assert.deepEqual([etag, policy.policy, records.length], [page.etag, 'open', page.count])
})

test('reading the sealed history does not send the room key', async () => {
  const bodies: string[] = []
  const spy: typeof fetch = (url, init) => (bodies.push(String(init?.body)), fetch(url, init))
  await openRoom({ spaceUrl: `${space.origin}/space`, room: room.room, mk: room.mk, fetch: spy }).sealed()
  assert.deepEqual(
    bodies.map((body) => JSON.parse(body)),
    [{ op: 'sealed', room: room.room }],
  )
})

test("another room's key does not open it", async () => {
  await assert.rejects(openHistory({ room: room.room, mk: fresh().mk }, stored), WrongKey)
  await assert.rejects(openHistory({ room: room.room, mk: 'short' }, stored), TypeError)
})

test('an altered, moved, removed or added line is detected', async () => {
  const flip = (line: string, member: string) =>
    line.replace(new RegExp(`("${member}":")(.)`), (_, name, at) => name + (at === 'A' ? 'B' : 'A'))
  assert.equal((await damage(withLines((lines) => lines.with(2, flip(lines[2]!, 'ciphertext'))))).seq, 3)
  assert.equal((await damage(withLines((lines) => lines.with(3, flip(lines[3]!, 'ciphertext'))))).seq, 3)
  assert.equal((await damage(withLines(([a, b, c, d]) => [a!, c!, b!, d!]))).seq, 1)
  assert.equal((await damage(withLines((lines) => lines.toSpliced(1, 1)))).seq, 1)
  assert.equal((await damage(withLines((lines) => [...lines, lines[3]!]))).seq, 4)
  assert.equal((await damage(withLines(() => ['']))).seq, 0)
})

test('a second recipient of a line is detected', async () => {
  const other = '{"header":{"alg":"A256KW","kid":"beta"},"encrypted_key":"AAAA"}'
  assert.equal(
    (await damage(withLines((lines) => lines.with(1, lines[1]!.replace('"recipients":[', `"recipients":[${other},`))))).seq,
    1,
  )
})

test('a missing last line is detected only by the etag of a poll', async () => {
  const { etag } = await room.poll()
  const shortened = withLines((lines) => lines.slice(0, -1))
  assert.equal((await openHistory(room, shortened)).entries.length, 2)
  assert.equal((await damage(shortened, etag)).seq, 2)
})

test('a text with another hash is rejected', async () => {
  assert.equal((await damage({ ...stored, sha256: '0'.repeat(64) })).seq, undefined)
})

test('records that were opened are sealed again, to other bytes that say the same and that any JOSE tool opens', async () => {
  const { records } = await openHistory(room, stored)
  const again = await sealHistory(room, records)
  assert.notEqual(again.sealed, stored.sealed)
  assert.deepEqual([again.alg, again.recipients], ['A256GCM', ['room']])
  assert.deepEqual(
    [again.bytes, again.sha256],
    [Buffer.byteLength(again.sealed), createHash('sha256').update(again.sealed).digest('hex')],
  )
  assert.deepEqual((await openHistory(room, again)).records, records)
  const { plaintext } = await generalDecrypt(JSON.parse(again.sealed.split('\n')[2]!), deriveRoomKey(room))
  assert.deepEqual(JSON.parse(Buffer.from(plaintext).toString()), records[2])
})
