import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTakenBack, parseInvitation } from '../../room-client/src/answer-invitation.ts'
import { importPairs } from '../../room-client/src/room-device.ts'
import { newInvitation } from '@atrium/room-client/new-invitation'
import { ListedConnection } from '../../room-client/src/listed-connection.ts'
import { answerInvitation, InvitationUsedError, ListFullError, openListedRoom, type RoomDevice } from './listed-room.ts'
import { newDevice, reasonOf, startListedRooms, textsIn } from './testing/listed-rooms.ts'

const { more, newRoom } = startListedRooms()

test('a device has no access before the owner admits it, and an invitation works once', async () => {
  const { room } = await newRoom()
  const device = await newDevice()
  const invitation = await room.invite('grace@example.org')
  const early = await answerInvitation(invitation, { ...more(), device })
  assert.equal(await reasonOf(early.read()), 'bad_room_key', 'it does not even have the access key')
  await room.admit()
  await early.say('now')
  assert.equal(await reasonOf(answerInvitation(invitation, { ...more(), device: await newDevice() })), 'bad_room_key')
  assert.deepEqual(await room.admit(), [])
  await assert.rejects(answerInvitation('x', { ...more(), device }), TypeError)
})

test('the owner cannot use up an invitation to the own room', async () => {
  const { room, device } = await newRoom()
  const invitation = await room.invite('Grace')
  await assert.rejects(answerInvitation(invitation, { ...more(), device }), TypeError)
  const [open] = await room.invitations()
  assert.equal(open?.answeredBy, undefined)
})

test('of two devices that answer an invitation, the second one is told that it was used', async () => {
  const { room } = await newRoom()
  const invitation = await room.invite('Grace')
  const device = await newDevice()
  await answerInvitation(invitation, { ...more(), device })
  await answerInvitation(invitation, { ...more(), device })
  await assert.rejects(answerInvitation(invitation, { ...more(), device: await newDevice() }), InvitationUsedError)
  const [grace] = await room.admit()
  assert.equal(grace?.key, device.signing.thumbprint)
})

test('a removed person cannot read on with a second invitation that is not answered', async () => {
  const { room } = await newRoom()
  const [first] = [await room.invite('Grace@example.org'), await room.invite('linus@example.org')]
  const device = await newDevice()
  const grace = await answerInvitation(await room.invite('grace@example.org'), { ...more(), device })
  await room.admit({ invitedAs: 'grace@example.org' })
  await grace.say('before')
  const { owner, room: name, keys } = parseInvitation(first)!
  const reader = openListedRoom({ ...more(), room: name, owner, device: await importPairs(keys) })
  assert.deepEqual(await textsIn(reader), ['before'], 'an open invitation can read')
  await room.expel([device.signing.thumbprint])
  await room.say('after')
  assert.equal(await reasonOf(reader.read()), 'bad_room_key')
  const open = (await room.invitations()).map(({ invitedAs }) => invitedAs)
  assert.deepEqual(open, ['linus@example.org'], 'those of others stay open')
})

test('who was removed and is invited again comes back with the same device, and reads back', async () => {
  const { room } = await newRoom()
  const device = await newDevice()
  const key = device.signing.thumbprint
  const grace = await answerInvitation(await room.invite('Grace'), { ...more(), device, name: 'Grace' })
  await room.admit()
  await grace.say('before')
  await room.expel([key])
  await room.say('meanwhile')
  const back = await answerInvitation(await room.invite('Grace, again'), { ...more(), device, name: 'Grace' })
  assert.equal(await reasonOf(back.read()), 'bad_room_key', 'the answer alone gives it nothing')
  const [admitted] = await room.admit()
  assert.deepEqual([admitted?.key, admitted?.invitedAs], [key, 'Grace, again'])
  await back.say('after')
  assert.deepEqual(await textsIn(back), ['before', 'meanwhile', 'after'])
  await room.expel([key])
  assert.equal(await reasonOf(back.read()), 'bad_room_key', 'it can be removed again')
})

/** The fetch of a device whose clock is ten minutes slow. */
function late({ signing }: Pick<RoomDevice, 'signing'>): typeof fetch {
  const encode = (bytes: string | Uint8Array) => Buffer.from(bytes as Uint8Array).toString('base64url')
  return async (url, init) => {
    const request = JSON.parse(String(init?.body)) as { proof: string }
    const [header, payload = ''] = request.proof.split('.')
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { iat: number }
    const signed = `${header}.${encode(JSON.stringify({ ...claims, iat: claims.iat - 600 }))}`
    const proof = `${signed}.${encode(await signing.sign(new TextEncoder().encode(signed)))}`
    return fetch(url, { ...init, body: JSON.stringify({ ...request, proof }) })
  }
}

test('a device that has answered an invitation can find out that the owner took it back', async () => {
  const { room } = await newRoom()
  const [invitation, second] = [await room.invite('Grace'), await room.invite('Linus')]
  const device = await newDevice()
  const options = { ...more(), device }
  assert.equal(await isTakenBack(invitation, options), false, 'it is open')
  await answerInvitation(invitation, options)
  assert.equal(await isTakenBack(invitation, options), false, 'the device waits')
  const guest = await importPairs(parseInvitation(invitation)!.keys)
  await assert.rejects(isTakenBack(invitation, { ...options, fetch: late(guest) }), { reason: 'unproven' })
  await room.admit()
  assert.equal(await isTakenBack(invitation, options), false, 'the device is on the list in its place')
  const other = { ...more(), device: await newDevice() }
  await answerInvitation(second, other)
  const open = (await room.invitations()).find(({ invitedAs }) => invitedAs === 'Linus')!
  await room.expel([open.key])
  assert.equal(await isTakenBack(second, other), true)
  const down = async () => Promise.reject(new TypeError('no network'))
  await assert.rejects(isTakenBack(second, { ...other, fetch: down }), { error: 'network_error' })
})

test('a device whose encryption key is not valid is not let in, and keeps nobody else out', async () => {
  const { room } = await newRoom()
  const [first, second] = [await room.invite('Mallory'), await room.invite('Grace')]
  const device = await newDevice()
  // No point of the curve, and canonical base64url nevertheless.
  const encryption = { ...device.encryption, y: device.encryption.x }
  await answerInvitation(first, { ...more(), device: { ...device, encryption } })
  await answerInvitation(second, { ...more(), device: await newDevice() })
  assert.deepEqual(
    (await room.admit()).map(({ invitedAs }) => invitedAs),
    ['Grace'],
  )
  const open = await room.invitations()
  assert.deepEqual(
    open.map(({ invitedAs }) => invitedAs),
    ['Mallory'],
  )
  await room.expel(open.map(({ key }) => key))
  assert.deepEqual(await room.invitations(), [])
})

test('a list that no line can hold is an error of its own, and the room goes on', async () => {
  const { room } = await newRoom()
  const who = 'x'.repeat(20_000)
  for (const _ of [1, 2]) await room.invite(who)
  await assert.rejects(room.invite(who), ListFullError)
  assert.equal((await room.invitations()).length, 2)
  await room.invite('grace@example.org')
})

/** The longest text up to `most` with which `fill` writes a list. */
async function longestFor(fill: (text: string) => Promise<unknown>, most: number): Promise<number> {
  let [fits, tooLong] = [0, most]
  while (tooLong - fits > 1) {
    const length = Math.floor((fits + tooLong) / 2)
    const isWritten = await fill('x'.repeat(length)).then(
      () => true,
      (error: unknown) => {
        assert.ok(error instanceof ListFullError, String(error))
        return false
      },
    )
    if (isWritten) fits = length
    else tooLong = length
  }
  return fits
}

for (const devices of [1, 4, 8])
  test(`a device can be removed from a full list, also when the key changes for the first time: ${devices} devices`, async () => {
    const { room, device } = await newRoom()
    const seconds = await Promise.all(Array.from({ length: devices }, newDevice))
    for (const second of seconds) {
      const opened = openListedRoom({ ...more(), room: room.room, owner: room.key, device: second })
      await room.vouch(await opened.card(room.key))
      await room.admitVouched([opened.key])
    }
    await room.invite('Grace')
    const connection = new ListedConnection({ ...more(), room: room.room, device })
    await longestFor(
      (text) =>
        connection.change((list) => ({ ...list, invites: list.invites.map((one) => ({ ...one, for: text })) }), undefined),
      65_536,
    )
    const [second] = seconds
    await room.expel([second!.signing.thumbprint])
    assert.equal((await room.members()).length, devices)
  })

test('an invitation that is asked for again is there once; after it was used or taken back, a new one is', async () => {
  const { room, device } = await newRoom()
  const connection = new ListedConnection({ ...more(), room: room.room, device })
  const asked: string[] = []
  /** Asks for one, as if the answers of all requests before were lost. Resolves to the text, if it is on the list. */
  const ask = async () => {
    const { invite, text } = await newInvitation(room.room, room.key, 'Grace')
    await connection.open(invite, asked)
    asked.push(invite.key)
    return { key: invite.key, text }
  }
  const listed = async () => (await room.invitations()).map(({ key }) => key)
  const first = await ask()
  await ask()
  assert.deepEqual(await listed(), [first.key])
  await room.expel([first.key])
  const second = await ask()
  assert.deepEqual(await listed(), [second.key])
  await answerInvitation(second.text, { ...more(), device: await newDevice() })
  const third = await ask()
  assert.deepEqual(await listed(), [second.key, third.key], 'no other device can use the answered one')
  await room.admit()
  await room.expel([third.key])
  const fourth = await ask()
  assert.deepEqual(await listed(), [fourth.key])
  await room.say('not for an old link')
  for (const { text } of [first, second, third]) {
    const { owner, keys } = parseInvitation(text)!
    const reader = openListedRoom({ ...more(), room: room.room, owner, device: await importPairs(keys) })
    assert.equal(await reasonOf(reader.read()), 'bad_room_key')
  }
})
