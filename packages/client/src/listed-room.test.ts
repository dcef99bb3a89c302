import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { ListedConnection } from '../../room-client/src/listed-connection.ts'
import { isListedEntry } from '../../room-client/src/listed-types.ts'
import { ListedReader } from '../../room-client/src/listed-reader.ts'
import { signCard } from '../../room-client/src/room-device.ts'
import { NotListedError, openListedRoom, TamperedRoomError } from './listed-room.ts'
import { newDevice, reasonOf, startListedRooms, textsIn } from './testing/listed-rooms.ts'
import { failureOf } from './testing/scripted-server.ts'

const { getSpace, join, more, newRoom } = startListedRooms()

test('invited devices read back and write, and each message names its device and who was invited', async () => {
  const { room, owner } = await newRoom()
  await room.say('Before you came.')
  const grace = await join(room, 'grace@example.org', { name: 'Grace' })
  const linus = await join(room, 'linus@example.org')
  await grace.room.say('Good evening.')
  const entries = await linus.room.read()
  assert.deepEqual(
    entries.map(({ author, message }) => [author.key, author.name, author.proven, message.text]),
    [
      [owner, 'Ada', true, 'Before you came.'],
      [grace.key, 'Grace', true, 'Good evening.'],
    ],
  )
  const standing = { ok: false, reason: 'unsigned' }
  const named = { name: undefined, invitedAs: undefined, standing }
  assert.deepEqual(await linus.room.members(), [
    { ...named, key: owner, name: 'Ada' },
    { ...named, key: grace.key, name: 'Grace', invitedAs: 'grace@example.org' },
    { ...named, key: linus.key, invitedAs: 'linus@example.org' },
  ])
})

test('who was removed reads no further, and the others read on and back', async () => {
  const { room, owner } = await newRoom()
  const grace = await join(room, 'grace@example.org')
  const linus = await join(room, 'linus@example.org')
  await room.say('for all three')
  assert.deepEqual(await textsIn(grace.room), ['for all three'])
  await room.expel([grace.key])
  await linus.room.say('for two')
  assert.equal(await reasonOf(grace.room.read()), 'bad_room_key')
  assert.equal(await reasonOf(grace.room.say('still here')), 'bad_room_key')
  const again = openListedRoom({ ...more(), room: room.room, owner, device: grace.device })
  assert.equal(await reasonOf(again.read()), 'bad_room_key')
  const newcomer = await join(room, 'barbara@example.org')
  assert.deepEqual(await textsIn(newcomer.room), ['for all three', 'for two'])
  assert.deepEqual(await textsIn(room), ['for all three', 'for two'])
})

test('all stored bytes give a removed member with its keys nothing newer', async () => {
  const { room, owner } = await newRoom()
  const grace = await join(room, 'grace@example.org')
  await room.say('for all')
  await room.expel([grace.key])
  await room.say('hidden')
  const { body } = await getSpace().call('sealed', { room: room.room })
  const lines = (body.sealed as string).split('\n')
  const etag = createHash('sha256').update(lines.at(-1)!).digest('base64url')
  const reader = new ListedReader({ room: room.room, owner, device: grace.device })
  const entries = await reader.take({ lines, count: lines.length, etag })
  assert.deepEqual(
    entries.map(({ message }) => message.text),
    ['for all'],
  )
  assert.equal(reader.force, undefined, 'it has no key of the new generation')
  assert.ok((body.recipients as string[]).includes(grace.key), 'the answer names who can open a line')
})

test('a device that was away through three changes of the key reads all, and its next message has the new key', async () => {
  const { room } = await newRoom()
  const away = await join(room, 'linus@example.org')
  await away.room.read()
  for (const who of ['a', 'b', 'c']) {
    const { key } = await join(room, who)
    await room.expel([key])
    await room.say(`after ${who}`)
  }
  await away.room.say('back')
  assert.deepEqual(await textsIn(away.room), ['after a', 'after b', 'after c', 'back'])
  assert.equal((await textsIn(room)).at(-1), 'back')
})

test('messages that are written while the key changes are sealed with the key of their place', async () => {
  const { room } = await newRoom()
  const writers = [await join(room, 'a'), await join(room, 'b'), await join(room, 'c')]
  const { key } = await join(room, 'd')
  const writing = writers.map(async (writer, w) => {
    for (let n = 0; n < 4; n++) await writer.room.say(`${w}.${n}`)
  })
  await room.expel([key])
  await Promise.all(writing)
  assert.equal((await textsIn(room)).length, 12)
  assert.equal((await textsIn(writers[0]!.room)).length, 12)
})

test('a lost answer of invite and of expel is no second list', async () => {
  let losing = 0
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const res = await globalThis.fetch(url, init)
    if (!String(init?.body).includes('"op":"append"') || losing-- <= 0) return res
    await res.arrayBuffer()
    throw new TypeError('the connection was cut')
  }
  const { room, device } = await newRoom({ fetch })
  const { key } = await join(room, 'a')
  losing = 1
  await room.invite('b')
  losing = 2
  await room.expel([key])
  const { body } = await getSpace().call('sealed', { room: room.room })
  assert.equal((body.sealed as string).split('\n').length, 6, 'list, invitation, answer, admission, invitation, removal')
  assert.equal((await room.members()).length, 1)
  const again = openListedRoom({ ...more(), room: room.room, device })
  assert.equal((await failureOf(again.make())).code, 'room_exists', 'another first line')
})

test('a text that no line can hold is refused before it is sent, and a text of 34,700 bytes is not', async () => {
  const { room } = await newRoom()
  await room.say('夜'.repeat(11_566), { replyTo: 'x'.repeat(100) })
  await assert.rejects(room.say('夜'.repeat(16_384)), { name: 'LineTooLongError' })
  await room.say('x'.repeat(16_384))
  assert.equal((await room.read()).length, 2)
})

test('only the owner changes the list', async () => {
  const { room } = await newRoom()
  const grace = await join(room, 'grace@example.org')
  await assert.rejects(grace.room.invite('mallory@example.org'))
  await assert.rejects(grace.room.expel([grace.key]))
  assert.equal((await room.members()).length, 2)
})

test('a service that shows a room of its own is found out by the thumbprint of the owner', async () => {
  const { room } = await newRoom()
  const other = openListedRoom({ ...more(), room: room.room, owner: 'A'.repeat(43), device: (await newRoom()).device })
  assert.equal(await reasonOf(other.read()), 'bad_room_key')
  const grace = await join(room, 'grace@example.org')
  const misled = openListedRoom({ ...more(), room: room.room, owner: 'A'.repeat(43), device: grace.device })
  await assert.rejects(misled.read(), (error) => error instanceof TamperedRoomError && error.problem === 'policy')
  await assert.rejects(misled.read(), TamperedRoomError, 'and it reads no further')
})

/** The same text with another last letter. */
const otherEnd = (text: string) => `${text.slice(0, -1)}${text.endsWith('A') ? 'B' : 'A'}`

test('the messages before a line that is wrong come with what is known of their authors', async () => {
  const { room, owner } = await newRoom()
  await room.say('first')
  const grace = await join(room, 'grace@example.org', { name: 'Grace' })
  await grace.room.say('second')
  const last = (await grace.room.read()).at(-1)!.seq
  await room.say('third')
  const altering: typeof fetch = async (url, init) => {
    const res = await fetch(url, init)
    const answer = (await res.json()) as { lines?: string[] }
    const lines = answer.lines?.map((line) => (line.includes(`"seq":${last + 1},`) ? line.replace(/"tag":"./, otherEnd) : line))
    return Response.json({ ...answer, ...(lines && { lines }) }, { status: res.status })
  }
  const misled = () => openListedRoom({ ...more(), room: room.room, owner, device: grace.device, fetch: altering })
  await assert.rejects(misled().read(), (error) => {
    assert.ok(error instanceof TamperedRoomError)
    const said = error.entries.filter(isListedEntry).map(({ member, message }) => [member.name, message.text])
    assert.deepEqual(said, [
      ['Ada', 'first'],
      ['Grace', 'second'],
    ])
    return true
  })
  const yielded: string[] = []
  await assert.rejects(async () => {
    for await (const { message } of misled().follow()) yielded.push(message.text)
  }, TamperedRoomError)
  assert.deepEqual(yielded, ['first', 'second'])
  // Of two requests at once, one has its page opened first. Neither ends as if nothing was wrong, and so does none after them.
  const connection = new ListedConnection({ ...more(), room: room.room, owner, device: grace.device, fetch: altering })
  const page = () => connection.readPage({ waitMs: 0, limit: 500 }, undefined)
  for (const asked of [...(await Promise.allSettled([page(), page()])), ...(await Promise.allSettled([page()]))]) {
    assert.ok(asked.status === 'rejected' && asked.reason instanceof TamperedRoomError)
    assert.deepEqual(
      asked.reason.entries.map(({ message }) => message.text),
      ['first', 'second'],
    )
  }
})

test('no table, log line or metric contains a key, a text or who was invited', async () => {
  const { room } = await newRoom()
  const grace = await join(room, 'grace-canary@example.org')
  await grace.room.say('canary-text')
  await room.expel([grace.key])
  const tables = await getSpace().db.query<{ name: string }>(
    "select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'public'",
  )
  const stored: string[] = []
  for (const { name } of tables.rows)
    stored.push(
      ...(await getSpace().db.query<{ row: string }>(`select t::text as row from ${name} t`)).rows.map(({ row }) => row),
    )
  assert.ok(stored.some((row) => row.includes(room.room)))
  const written = [...stored, ...getSpace().logged, JSON.stringify(getSpace().collect())].join('\n')
  const [, , invited = ''] = grace.invitation.split('~')
  for (const secret of ['grace-canary', 'canary-text', 'Ada"', invited.slice(86, 129), invited.slice(215)]) {
    const bytes = Buffer.from(secret)
    const decoded = Buffer.from(secret, 'base64url').toString('hex')
    // Base64 of a text depends on where it begins: without its ends, it occurs at each of three places.
    const shifted = [0, 1, 2].map((at) =>
      Buffer.concat([Buffer.alloc(at), bytes])
        .toString('base64url')
        .slice(4, -2),
    )
    for (const form of [secret, bytes.toString('hex'), decoded, ...shifted])
      if (form.length > 4) assert.equal(written.includes(form), false, `${secret} as ${form}`)
  }
})

test('the service ends a page at any line of the stay of a hosted agent, and a member is told the same', async () => {
  const { room, owner } = await newRoom()
  const grace = await join(room, 'grace@example.org', { name: 'Grace' })
  const runner = await newDevice()
  const key = runner.signing.thumbprint
  const lamplighter = openListedRoom({ ...more(), room: room.room, owner, device: runner })
  const whoReads: (string | undefined)[] = []
  const note = (count: number, agent?: string) => whoReads.push(...Array.from({ length: count }, () => agent))
  await room.say('Who is there?')
  // Line 0, the invitation, the answer, the list that lets Grace in, and the message.
  note(5)
  await room.host({ agent: 'agt_1', card: await signCard(runner, room.room, 'Lamplighter') })
  await lamplighter.say('I am, and so is my operator.')
  await grace.room.say('Good evening.')
  note(3, 'agt_1')
  await room.expel([key])
  await grace.room.say('It has gone.')
  note(2)
  for (let limit = 1; limit <= whoReads.length; limit++) {
    const member = new ListedConnection({ ...more(), room: room.room, owner, device: grace.device })
    const read: unknown[] = []
    for (let isEmpty = false; !isEmpty;) {
      const page = await member.readPage({ waitMs: 0, limit }, undefined)
      isEmpty = page.isEmpty
      read.push(...page.entries.map(({ message, member: author }) => [message.text, author.hostedAgent]))
      const list = await member.list().catch((error: unknown) => error)
      // Of the first lines, Grace has no key yet.
      if (page.count < 4) assert.ok(list instanceof NotListedError, `${limit}`)
      else {
        const { members } = await member.list()
        const hosted = members.flatMap(({ hostedAgent }) => hostedAgent ?? [])
        assert.deepEqual(hosted, [whoReads[page.count - 1] ?? []].flat(), `${page.count} lines in pages of ${limit}`)
      }
    }
    assert.deepEqual(read, [
      ['Who is there?', undefined],
      ['I am, and so is my operator.', 'agt_1'],
      ['Good evening.', undefined],
      ['It has gone.', undefined],
    ])
  }
})

test('two tabs of the owner that remove the same device at once change the key once', async () => {
  const { room, owner, device } = await newRoom()
  const grace = await join(room, 'grace@example.org')
  const tabs = [room, openListedRoom({ ...more(), room: room.room, owner, device })]
  await Promise.all(tabs.map((tab) => tab.members()))
  const lines = async () => (await getSpace().call('sealed', { room: room.room })).body.sealed.split('\n').length as number
  const before = await lines()
  await Promise.all(tabs.map((tab) => tab.expel([grace.key])))
  assert.equal(await lines(), before + 1)
  await room.expel([grace.key])
  assert.equal(await lines(), before + 1)
})

test('a page may have more lines than a call may have arguments', async (t) => {
  const { room, device, owner } = await newRoom()
  await Promise.all(Array.from({ length: 40 }, (_, i) => room.say(`${i}`)))
  const { push } = Array.prototype
  t.after(() => Object.assign(Array.prototype, { push }))
  // JavaScriptCore allows 65,536.
  const limited = function (this: unknown[], ...items: unknown[]) {
    if (items.length > 30) throw new RangeError('too many arguments')
    return push.apply(this, items)
  }
  Object.assign(Array.prototype, { push: limited })
  const reader = openListedRoom({ ...more(), room: room.room, owner, device })
  assert.equal((await textsIn(reader)).length, 40)
  let followed = 0
  for await (const _ of reader.follow()) if (++followed === 40) break
})
