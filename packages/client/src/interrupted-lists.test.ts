import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ListedConnection } from '@atrium/room-client/listed-connection'
import { answerInvitation, type ListedRoom, openListedRoom, TamperedRoomError } from './listed-room.ts'
import { newDevice, startListedRooms, textsIn } from './testing/listed-rooms.ts'
import { failureOf } from './testing/scripted-server.ts'

const { join, more, newRoom } = startListedRooms()

/** A fetch that calls `then` once, after the service has stored a line, and before its answer is lost. */
function losingOnce(then: () => Promise<unknown>) {
  const state = { isOn: false }
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const res = await globalThis.fetch(url, init)
    if (!state.isOn || !String(init?.body).includes('"op":"append"')) return res
    state.isOn = false
    await res.arrayBuffer()
    await then()
    throw new TypeError('the connection was cut')
  }
  return { fetch, state }
}

/** A fetch that calls `first` once, before a line is sent. */
function delayedOnce(first: () => Promise<unknown>) {
  const state = { isOn: false }
  const fetch: typeof globalThis.fetch = async (url, init) => {
    if (state.isOn && String(init?.body).includes('"op":"append"')) {
      state.isOn = false
      await first()
    }
    return globalThis.fetch(url, init)
  }
  return { fetch, state }
}

test('a list whose answer was lost is not written again if another tab of the owner has written one since', async () => {
  const other: { room?: ListedRoom } = {}
  const { fetch, state } = losingOnce(() => other.room!.invite('from the other tab'))
  const { room, device } = await newRoom({ fetch })
  other.room = openListedRoom({ ...more(), room: room.room, device })
  state.isOn = true
  await room.invite('from this tab')
  const open = (await room.invitations()).map(({ invitedAs }) => invitedAs)
  assert.deepEqual(open, ['from this tab', 'from the other tab'])
  assert.deepEqual(await other.room.invitations(), await room.invitations(), 'every reader accepts it')
})

test('a list that the service says it has stored, and that is not in the room, removes and invites nobody', async () => {
  const state = { isOn: false }
  const fetch: typeof globalThis.fetch = async (url, init) => {
    if (!state.isOn || !String(init?.body).includes('"op":"append"')) return globalThis.fetch(url, init)
    return Response.json({ ok: true, seq: 6, etag: 'A'.repeat(43), count: 7 })
  }
  const { room } = await newRoom({ fetch })
  const grace = await join(room, 'Grace')
  const seen = await room.members()
  state.isOn = true
  const isNotThere = (error: unknown) =>
    error instanceof TamperedRoomError && error.problem === 'count' && error.seq === 4 && error.entries.length === 0
  await assert.rejects(room.expel([grace.key]), isNotThere)
  await assert.rejects(room.invite('Linus'), isNotThere)
  state.isOn = false
  assert.deepEqual(await room.members(), seen, 'the room goes on')
  await room.expel([grace.key])
  assert.deepEqual(
    (await room.members()).map(({ name }) => name),
    ['Ada'],
  )
})

test('an invitation that another tab has taken back lets nobody in, also not at the second try', async () => {
  const other: { room?: ListedRoom } = {}
  const { fetch, state } = delayedOnce(async () => {
    const [grace] = await other.room!.invitations()
    await other.room!.expel([grace!.key])
  })
  const { room, device } = await newRoom({ fetch })
  other.room = openListedRoom({ ...more(), room: room.room, device })
  await answerInvitation(await room.invite('Grace'), { ...more(), device: await newDevice() })
  state.isOn = true
  assert.deepEqual(await room.admit(), [])
  assert.equal((await room.members()).length, 1)
})

test('a second device does not come in after another tab has removed the first one', async () => {
  const other: { room?: ListedRoom } = {}
  const { fetch, state } = delayedOnce(async () => {
    const [, grace] = await other.room!.members()
    await other.room!.expel([grace!.key])
  })
  const { room, device, owner } = await newRoom({ fetch })
  other.room = openListedRoom({ ...more(), room: room.room, device })
  const grace = await join(room, 'Grace')
  const second = openListedRoom({ ...more(), room: room.room, owner, device: await newDevice() })
  await grace.room.vouch(await second.card(grace.key))
  state.isOn = true
  assert.deepEqual(await room.admitVouched([second.key]), [])
  assert.equal((await room.members()).length, 1)
})

test('nothing is written that no reader accepts, because it would end the room for everybody', async () => {
  const { room, device, owner } = await newRoom()
  const refused = [
    () => room.say(''),
    () => room.say('x'.repeat(16_385)),
    () => room.say('x', { replyTo: '' }),
    () => room.identify(''),
    () => room.identify('x'.repeat(16_385)),
    () => newRoom({ name: 'x'.repeat(81) }),
    () => join(room, 'Grace', { name: '' }),
    () => openListedRoom({ ...more(), room: room.room, device, name: 'x'.repeat(81) }).card(owner),
  ]
  for (const work of refused) await assert.rejects(work, TypeError)
  await room.say('😀'.repeat(8_000))
  await join(room, 'Linus', { name: '😀'.repeat(80) })
  assert.equal((await textsIn(room)).length, 1)
})

test('an answer that is no page is no word about the room: the next one is read', async () => {
  const odd = ['{}', 'null', '{"lines":null,"count":0,"etag":""}', '{"lines":[1],"count":1,"etag":""}', '<html>']
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const text = String(init?.body).includes('"op":"read"') ? odd.shift() : undefined
    return text === undefined ? globalThis.fetch(url, init) : new Response(text)
  }
  const { room } = await newRoom({ fetch })
  for (let left = odd.length; left > 0; left--) assert.equal((await failureOf(room.read())).code, 'unexpected_answer')
  await room.say('Here we are.')
  assert.deepEqual(await textsIn(room), ['Here we are.'])
})

test('a held read whose answer never comes ends by its own time limit, and not by that of other requests', async () => {
  const { room, device } = await newRoom()
  const fetch: typeof globalThis.fetch = (_, init) =>
    new Promise((_resolve, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error)))
  const connection = new ListedConnection({ ...more(), room: room.room, device, fetch, timeoutMs: 5_000 })
  await assert.rejects(connection.readPage({ waitMs: 100, limit: 10, timeoutMs: 100 }, undefined), {
    message: 'No answer within 200 ms',
  })
})
