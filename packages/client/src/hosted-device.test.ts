import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signCard } from '../../room-client/src/room-device.ts'
import { answerInvitation, type ListedRoom, openListedRoom } from './listed-room.ts'
import { newDevice, startListedRooms, textsIn } from './testing/listed-rooms.ts'

const { more, newRoom } = startListedRooms()
const hostedIn = async (room: ListedRoom) => (await room.members()).flatMap(({ hostedAgent }) => hostedAgent ?? [])

async function world() {
  const { room, device, owner } = await newRoom()
  const runner = await newDevice()
  const own = { ...more(), room: room.room, owner }
  const consent = { agent: 'agt_1', card: await signCard(runner, room.room, 'Lamplighter') }
  return { room, device, runner, own, consent, key: runner.signing.thumbprint }
}

test('a hosted agent reads from the consent of the owner on, every list carries the consent over, and the key changes at the end', async () => {
  const { room, runner, own, consent, key } = await world()
  await room.say('Before it came.')
  const agent = openListedRoom({ ...own, device: runner })
  await assert.rejects(agent.read(), { name: 'NotListedError' })
  assert.equal(await room.host(consent), key)
  const before = (await room.say('Before the repeat.')).seq
  assert.equal(await room.host(consent), key)
  assert.equal((await room.say('After the repeat.')).seq, before + 1, 'a repeat writes nothing')
  assert.deepEqual(await textsIn(agent), ['Before it came.', 'Before the repeat.', 'After the repeat.'])
  await agent.say('Good evening.')
  const said = (await room.read()).at(-1)
  assert.deepEqual(
    [said?.message.text, said?.member.hostedAgent, said?.member.name, said?.member.invitedAs],
    ['Good evening.', 'agt_1', 'Lamplighter', undefined],
  )

  // Lists that say something else carry it over: an invitation, an admission with a new key, a removal with another one.
  const graceDevice = await newDevice()
  const grace = await answerInvitation(await room.invite('Grace'), { ...more(), device: graceDevice })
  await room.admit()
  const linus = await answerInvitation(await room.invite('Linus'), { ...more(), device: await newDevice() })
  await room.admit()
  await room.expel([graceDevice.signing.thumbprint])
  for (const reader of [room, linus, agent]) assert.deepEqual(await hostedIn(reader), ['agt_1'])
  await assert.rejects(grace.read(), { name: 'NotListedError' })

  await room.expel([key])
  await room.say('It has gone.')
  assert.deepEqual(await hostedIn(room), [])
  await assert.rejects(agent.read(), { name: 'NotListedError' })
  assert.equal((await linus.read()).at(-2)?.member.hostedAgent, 'agt_1', 'its messages are still shown as its own')
})

test('two agents are named each by itself, and one leaves without the other', async () => {
  const { room, consent, key } = await world()
  const other = await newDevice()
  await room.host(consent)
  await room.host({ agent: 'agt_2', card: await signCard(other, room.room, undefined) })
  assert.deepEqual(await hostedIn(room), ['agt_1', 'agt_2'])
  await room.expel([key])
  assert.deepEqual(await hostedIn(room), ['agt_2'])
  await room.host(consent)
  assert.deepEqual((await hostedIn(room)).toSorted(), ['agt_1', 'agt_2'], 'the same device comes back as the same agent')
})

test('the client writes no list that readers would refuse', async () => {
  const { room, device, consent, own } = await world()
  const grace = await newDevice()
  await answerInvitation(await room.invite('Grace'), { ...more(), device: grace })
  await room.admit()
  await room.host(consent)
  const cardOf = (of: typeof device, where = room.room) => signCard(of, where, 'Lamplighter')
  for (const wrong of [
    { agent: 'agt_1', card: await cardOf(device) },
    { agent: 'agt_1', card: await cardOf(grace) },
    { agent: 'agt_1', card: await cardOf(await newDevice(), 'harbour') },
    { agent: 'agt 1', card: await cardOf(await newDevice()) },
    { agent: 'agt_2', card: consent.card },
    { agent: 'agt_1', card: 'none' },
  ])
    await assert.rejects(room.host(wrong), TypeError)
  const reader = openListedRoom({ ...own, device: grace })
  assert.deepEqual(await hostedIn(reader), ['agt_1'])
  await assert.rejects(reader.host({ agent: 'agt_3', card: await cardOf(await newDevice()) }), { reason: 'not_owner' })
})
