import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTestSpace, type TestSpace } from '../../space/src/testing/test-space.ts'
import { newRoomSecret } from './new-room-secret.ts'
import { type ClientSealedRoomOptions, openClientSealedRoom, RoomMovedError, TamperedRoomError } from './client-sealed-room.ts'
import { NotAuthorizedError, NotFoundError } from './errors.ts'
import { openRoom } from './open-room.ts'
import { losing } from './testing/losing.ts'
import { failureOf } from './testing/scripted-server.ts'

const audience = 'https://rooms.example'
let space: TestSpace
before(async () => {
  space = await startTestSpace({ ATRIUM_SPACES_URL: audience })
})
after(() => space.close())

const open = (more: Partial<ClientSealedRoomOptions> = {}) =>
  openClientSealedRoom({
    spaceUrl: `${space.origin}/space`,
    audience,
    ...newRoomSecret(),
    wait: async () => undefined,
    ...more,
  })

test('two clients with the link write and read, and the service has neither key nor text', async () => {
  const room = open({ name: 'Ada, ashore' })
  await room.make()
  const asked = await room.say('Are the lamps lit?')
  const other = open({ room: room.room, mk: room.mk })
  assert.deepEqual(await other.say('All of them.', { replyTo: asked.id }), { id: (await room.read())[1]!.id, seq: 2 })
  const entries = await other.read()
  assert.deepEqual(
    entries.map(({ seq, author, message }) => [seq, author.name, message.text, message.reply_to]),
    [
      [1, 'Ada, ashore', 'Are the lamps lit?', undefined],
      [2, undefined, 'All of them.', asked.id],
    ],
  )
  assert.deepEqual(await other.read(), [], 'once each')
  const { rows } = await space.db.query('select * from room_lines where room = $1', [room.room])
  const stored = JSON.stringify([rows, space.logged])
  // Sealed bytes contain each short word sooner or later, but no comma.
  for (const hidden of [room.mk, 'lamps', Buffer.from('lamps').toString('hex'), 'Ada,'])
    assert.ok(!stored.includes(hidden), hidden)
})

test('follow gives the messages so far and each new one, and ends with its signal', async () => {
  const room = open()
  await room.make()
  await room.say('first')
  const stop = new AbortController()
  const texts: string[] = []
  for await (const { message } of room.follow({ signal: stop.signal })) {
    texts.push(message.text)
    if (texts.length === 1) void room.say('second')
    if (texts.length === 2) stop.abort()
  }
  assert.deepEqual(texts, ['first', 'second'])
})

test('what is written at once is one chain that every reader accepts', async () => {
  const room = open()
  await room.make()
  const writers = Array.from({ length: 8 }, () => open({ room: room.room, mk: room.mk }))
  await Promise.all(writers.flatMap((writer, n) => [writer.say(`${n}a`), writer.say(`${n}b`)]))
  assert.equal((await room.read()).length, 16)
})

test('a lost answer of make and of say is no second one', async () => {
  const room = open({ fetch: losing(2) })
  await room.make()
  const writer = open({ room: room.room, mk: room.mk, fetch: losing(3) })
  assert.equal((await writer.say('once')).seq, 1)
  assert.equal((await room.read()).length, 1)
  assert.equal((await failureOf(room.make())).code, 'room_exists')
})

test('what was read before the connection was cut is returned by the next read', async () => {
  const room = open()
  await room.make()
  for (let n = 0; n < 6; n++) await room.say(`${n}`)
  let reads = 0
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const request = JSON.parse(String(init?.body)) as { op: string }
    if (request.op === 'read' && ++reads === 2) throw new TypeError('the connection was cut')
    return globalThis.fetch(url, init)
  }
  const reader = open({ room: room.room, mk: room.mk, fetch, retries: 0 })
  assert.equal((await failureOf(reader.read())).code, 'network_error')
  assert.deepEqual(
    (await reader.read()).map(({ message }) => message.text),
    ['0', '1', '2', '3', '4', '5'],
  )
})

test('nothing is written that no reader accepts, because it would end the room for everybody', async () => {
  const room = open()
  await room.make()
  const named = (name: string) => open({ room: room.room, mk: room.mk, name })
  const refused = [
    () => room.say(''),
    () => room.say('x'.repeat(16_385)),
    () => room.say('x', { replyTo: 'x'.repeat(101) }),
    () => named('').say('x'),
    () => named('x'.repeat(81)).say('x'),
    () => named('x'.repeat(81)).move(),
  ]
  for (const work of refused) await assert.rejects(work, TypeError)
  await named('😀'.repeat(80)).say('x'.repeat(16_384))
  assert.equal((await room.read()).length, 1)
})

test('a text that no line can hold is refused before it is sent, and a text of 46,000 bytes is not', async () => {
  const calls: string[] = []
  const watched: typeof fetch = async (url, init) => {
    calls.push((JSON.parse(String(init?.body)) as { op: string }).op)
    return fetch(url, init)
  }
  const room = open({ fetch: watched })
  await room.make()
  await room.say('夜'.repeat(15_333))
  calls.length = 0
  await assert.rejects(room.say('夜'.repeat(16_384)), { name: 'LineTooLongError' })
  assert.ok(!calls.includes('append'))
  assert.equal((await room.read()).length, 1)
})

test('another key is refused, and a client of the other kind too, before it reads anything', async () => {
  const room = open()
  await room.make()
  const wrong = open({ room: room.room })
  assert.ok((await failureOf(wrong.read())) instanceof NotAuthorizedError)
  assert.ok((await failureOf(open().read())) instanceof NotFoundError)
  const classic = openRoom({ spaceUrl: `${space.origin}/space`, room: room.room, mk: room.mk })
  assert.equal((await failureOf(classic.poll())).reason, 'client_sealed')
})

test('a service that changes a line is found out', async () => {
  const room = open()
  await room.make()
  await room.say('first')
  const altering: typeof fetch = async (url, init) => {
    const res = await fetch(url, init)
    const text = (await res.text()).replace(/ciphertext\\":\\"./, (part) => part.slice(0, -1) + (part.endsWith('A') ? 'B' : 'A'))
    return new Response(text, { status: res.status, headers: { 'content-type': 'application/json' } })
  }
  const reader = open({ room: room.room, mk: room.mk, fetch: altering })
  await assert.rejects(reader.read(), (error) => error instanceof TamperedRoomError && error.problem === 'chain')
})

/** The same text with another last letter. */
const otherEnd = (text: string) => `${text.slice(0, -1)}${text.endsWith('A') ? 'B' : 'A'}`

test('the messages before a line that is wrong are not lost: the error has them, and follow yields them first', async () => {
  const room = open()
  await room.make()
  for (const text of ['first', 'second', 'third']) await room.say(text)
  // Of the last line but one, the service has another letter.
  const altering: typeof fetch = async (url, init) => {
    const res = await fetch(url, init)
    const answer = (await res.json()) as { lines?: string[] }
    const lines = answer.lines?.map((line) => (line.includes('"seq":2,') ? line.replace(/"tag":"./, otherEnd) : line))
    return Response.json({ ...answer, ...(lines && { lines }) }, { status: res.status })
  }
  const options = { room: room.room, mk: room.mk, fetch: altering }
  await assert.rejects(open(options).read(), (error) => {
    assert.ok(error instanceof TamperedRoomError)
    assert.deepEqual([error.problem, error.seq, error.entries.map(({ message }) => message.text)], ['chain', 3, ['first']])
    return true
  })
  const yielded: string[] = []
  await assert.rejects(async () => {
    for await (const { message } of open(options).follow()) yielded.push(message.text)
  }, TamperedRoomError)
  assert.deepEqual(yielded, ['first'])
})

test('a farewell leads the members into another room, and nothing more is written here', async () => {
  const room = open({ name: 'Ada' })
  await room.make()
  await room.say('Before.')
  const guest = open({ room: room.room, mk: room.mk })
  assert.equal(guest.farewell, undefined)
  const next = await room.move()
  await next.say('Here we are.')
  assert.equal((await guest.read()).length, 1, 'the farewell is no message')
  assert.ok(guest.farewell)
  const { seq, name, to } = guest.farewell
  assert.deepEqual([seq, name, to], [2, 'Ada', { room: next.room, mk: next.mk }])
  assert.ok(to)
  const entries = await open(to).read()
  assert.deepEqual(
    entries.map(({ message }) => message.text),
    ['Here we are.'],
  )
  for (const late of [room, guest, open({ room: room.room, mk: room.mk })])
    await assert.rejects(late.say('Still here?'), (error) => error instanceof RoomMovedError && error.farewell.seq === 2)
  await assert.rejects(guest.move(), RoomMovedError)
  const { body } = await space.call('sealed', { room: room.room })
  assert.ok(!JSON.stringify(body).includes(next.mk))
})

test('who is left behind does not learn the new link, and a failed move can be repeated', async () => {
  let failing = true
  const room = open({
    fetch: async (url, init) => {
      if (failing && String(init?.body).includes('"op":"append"')) throw new TypeError('the connection was cut')
      return fetch(url, init)
    },
    retries: 0,
  })
  await room.make()
  assert.equal((await failureOf(room.move({ tellLink: false }))).code, 'network_error')
  assert.equal(room.farewell, undefined)
  failing = false
  const next = await room.move({ tellLink: false })
  const guest = open({ room: room.room, mk: room.mk })
  const heard: string[] = []
  const stop = new AbortController()
  const following = (async () => {
    for await (const { message } of guest.follow({ signal: stop.signal })) heard.push(message.text)
  })()
  await guest.read()
  assert.deepEqual([guest.farewell?.seq, guest.farewell?.to], [1, undefined])
  await assert.rejects(guest.say('Hello?'), /Ask one of them/)
  stop.abort()
  await following
  assert.deepEqual([heard, await next.read()], [[], []])
})
