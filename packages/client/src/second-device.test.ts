import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ListedConnection } from '@atrium/room-client/listed-connection'
import { answerInvitation, NotListedError, openListedRoom } from './listed-room.ts'
import { newRoomSecret } from './new-room-secret.ts'
import { newDevice, startListedRooms } from './testing/listed-rooms.ts'

const { more, newRoom } = startListedRooms()

/** A room with a member, and a second device of the member that is not in it yet. */
async function prepare() {
  const { room: owner, owner: ownerKey } = await newRoom()
  const [first, second] = await Promise.all([newDevice(), newDevice()])
  const member = await answerInvitation(await owner.invite('Grace'), { ...more(), device: first, name: 'Grace' })
  await owner.admit()
  const place = { room: owner.room, owner: ownerKey }
  const other = openListedRoom({ ...more(), ...place, device: second, name: 'Grace, telephone' })
  const [firstKey, secondKey] = [first, second].map(({ signing }) => signing.thumbprint) as [string, string]
  return { owner, member, other, firstKey, secondKey, second }
}

test('a member names a second device, the owner lets it in without a change of the key, and readers are told', async () => {
  const { owner, member, other, firstKey, secondKey } = await prepare()
  await member.say('From my desk.')
  await assert.rejects(other.read(), NotListedError)
  await member.vouch(await other.card(firstKey))
  const [waiting] = await owner.vouched()
  assert.deepEqual([waiting?.key, waiting?.name, waiting?.invitedAs], [secondKey, 'Grace, telephone', 'Grace'])
  assert.deepEqual(waiting?.vouchedBy, { key: firstKey, name: 'Grace' })
  await assert.rejects(other.read(), NotListedError, 'naming is not letting in')
  assert.equal((await owner.admitVouched([secondKey])).length, 1)
  assert.deepEqual(await owner.admitVouched([secondKey]), [], 'once')
  assert.deepEqual(
    (await other.read()).map(({ message }) => message.text),
    ['From my desk.'],
  )
  await other.say('From the tram.')
  const [said] = (await owner.read()).slice(-1)
  assert.deepEqual([said?.member.key, said?.member.vouchedBy?.key], [secondKey, firstKey])
  assert.deepEqual(await owner.vouched(), [])
})

test('who is expelled leaves with every device that it has named, and one that was removed is not offered again', async () => {
  const { owner, member, other, firstKey, secondKey } = await prepare()
  const third = openListedRoom({ ...more(), room: owner.room, owner: (await owner.members())[0]!.key, device: await newDevice() })
  await member.vouch(await other.card(firstKey))
  await owner.admitVouched([secondKey])
  await other.vouch(await third.card(secondKey))
  const [thirdKey = ''] = (await owner.vouched()).map(({ key }) => key)
  await owner.admitVouched([thirdKey])
  assert.equal((await owner.members()).length, 4)
  await owner.expel([secondKey])
  assert.deepEqual((await owner.members()).map(({ key }) => key).includes(firstKey), true)
  assert.equal((await owner.members()).length, 2, 'the third device was named by the second')
  await member.vouch(await other.card(firstKey))
  assert.deepEqual(await owner.vouched(), [])
  await owner.say('Without the others.')
  for (const gone of [other, third]) await assert.rejects(gone.read(), NotListedError)
  await member.vouch(await openListedRoom({ ...more(), room: owner.room, device: await newDevice() }).card(firstKey))
  assert.equal((await owner.vouched()).length, 1)
  await owner.expel([firstKey])
  assert.deepEqual(await owner.vouched(), [], 'the word of a device that was removed counts no more')
})

test('a second device whose first one was removed before it was let in comes in by an invitation', async () => {
  const { owner, member, other, firstKey, secondKey, second } = await prepare()
  await member.vouch(await other.card(firstKey))
  await owner.expel([firstKey])
  assert.deepEqual(await owner.vouched(), [])
  const back = await answerInvitation(await owner.invite('Grace, again'), { ...more(), device: second, name: 'Grace' })
  assert.deepEqual(
    (await owner.admit()).map(({ key, invitedAs, vouchedBy }) => [key, invitedAs, vouchedBy]),
    [[secondKey, 'Grace, again', undefined]],
  )
  await back.say('From the laptop.')
  assert.equal((await owner.read()).at(-1)?.member.key, secondKey)
})

test('a second device that was removed by itself comes back by an invitation, while its namer stays', async () => {
  const { owner, member, other, firstKey, secondKey, second } = await prepare()
  await member.vouch(await other.card(firstKey))
  await owner.admitVouched([secondKey])
  await owner.expel([secondKey])
  await answerInvitation(await owner.invite('Grace, again'), { ...more(), device: second })
  assert.equal((await owner.admit()).length, 1)
  await owner.expel([firstKey])
  await other.say('I was invited for my own sake.')
  assert.equal((await owner.members()).length, 2)
})

test('a second device whose encryption key is not valid is not let in, and keeps no other one out', async () => {
  const { owner, member, other, firstKey, secondKey } = await prepare()
  const device = await newDevice()
  const broken = { ...device, encryption: { ...device.encryption, y: device.encryption.x } }
  await member.vouch(await openListedRoom({ ...more(), room: owner.room, device: broken }).card(firstKey))
  await member.vouch(await other.card(firstKey))
  const waiting = (await owner.vouched()).map(({ key }) => key)
  assert.equal(waiting.length, 2)
  const admitted = await owner.admitVouched(waiting)
  assert.deepEqual(
    admitted.map(({ key }) => key),
    [secondKey],
  )
})

test('what is no card for this room is not written, and only the owner lets in', async () => {
  const { owner, member, other, firstKey, secondKey } = await prepare()
  const elsewhere = openListedRoom({ ...more(), room: newRoomSecret().room, device: await newDevice() })
  for (const wrong of ['', 'x.y.z', await elsewhere.card(firstKey), await other.card(owner.key)])
    await assert.rejects(member.vouch(wrong), TypeError)
  await assert.rejects(other.vouch(await other.card(secondKey)), NotListedError)
  await member.vouch(await other.card(firstKey))
  await assert.rejects(member.admitVouched([secondKey]))
  assert.equal((await owner.members()).length, 2)
})

test('a member who sees the card of somebody else’s second device neither gets it nor keeps it from its owner', async () => {
  const { owner, member, other, firstKey, secondKey } = await prepare()
  const malloryDevice = await newDevice()
  const invitation = await owner.invite('Mallory')
  const mallory = await answerInvitation(invitation, { ...more(), device: malloryDevice, name: 'Mallory' })
  await owner.admit()
  const card = await other.card(firstKey)
  await assert.rejects(mallory.vouch(card), TypeError)
  // A client that does not check it.
  const { room, key: by } = mallory
  const connection = new ListedConnection({ ...more(), room, owner: owner.key, device: malloryDevice })
  await connection.append({ t: 'vouch', card }, undefined)
  assert.deepEqual(await owner.vouched(), [])
  assert.deepEqual(await owner.admitVouched([secondKey]), [])
  await member.vouch(card)
  const [waiting] = await owner.vouched()
  assert.deepEqual([waiting?.key, waiting?.vouchedBy?.key, waiting?.invitedAs], [secondKey, firstKey, 'Grace'])
  await owner.admitVouched([secondKey])
  await owner.expel([by])
  await other.say('I am still here.')
  assert.equal((await owner.members()).length, 3)
})
