import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { after, before, test } from 'node:test'
import { ListedClient, newDevice } from './testing/listed-client.ts'
import { audience, newDedupe } from './testing/sealing-client.ts'
import { startTestSpace, type TestSpace } from './testing/test-space.ts'

let space: TestSpace
let other: TestSpace
before(async () => {
  space = await startTestSpace({ ATRIUM_SPACES_URL: audience })
  other = await startTestSpace({ ATRIUM_SPACES_URL: audience }, space.databaseUrl)
})
after(async () => {
  await other.close()
  await space.close()
})

const [owner, member, stranger] = await Promise.all([newDevice(), newDevice(), newDevice()])
const newAccess = () => {
  const key = generateKeyPairSync('ed25519').privateKey
  return { key, access: String(key.export({ format: 'jwk' }).x) }
}

/** A room with owner and member on its list. `etag`: the hash of the line with the list. */
async function made() {
  const room = new ListedClient(space, owner)
  const line = await room.list({ devices: [owner.key, member.key] })
  const { status, body } = await room.as(owner, 'make', { access: room.access, line })
  assert.deepEqual([status, body.count], [200, 1])
  return { room, etag: body.etag as string }
}

const refusal = ({ status, body }: { status: number; body: { error: string; reason: string } }) => [
  status,
  body.error,
  body.reason,
]
const no = (reason: string) => [403, 'not_authorized', reason]

test('devices on the list read and write, and all others are refused with their reason', async () => {
  const { room, etag } = await made()
  assert.equal((await room.appendAs(member, undefined)).status, 200)
  assert.equal((await room.as(member, 'read', {})).body.count, 2)
  for (const op of ['read', 'append']) {
    const fields = op === 'read' ? {} : { line: await room.seal('x'), dedupe: newDedupe() }
    const send = (device: typeof owner | undefined, forged = {}) => room.as(device, op, fields, forged)
    assert.deepEqual(refusal(await send(undefined)), no('unsigned'), op)
    assert.deepEqual(refusal(await send(member, { change: { spk: 'x' } })), no('unsigned'), op)
    assert.deepEqual(refusal(await send(member, { change: { proof: undefined } })), no('unproven'), op)
    assert.deepEqual(refusal(await send(member, { change: { spk: owner.spk } })), no('unproven'), op)
    assert.deepEqual(refusal(await send(stranger)), no('not_on_list'), op)
    assert.deepEqual(refusal(await send(stranger, { key: newAccess().key })), no('bad_room_key'), op)
  }
  const swapped = await room.appendAs(member, undefined, { change: { line: await room.seal('another') } })
  assert.deepEqual(refusal(swapped), no('unproven'))
  const shorter = await room.list({ prev: etag, revoked: [member.key] })
  assert.equal((await room.appendAs(owner, shorter)).status, 200)
  assert.deepEqual(refusal(await room.appendAs(member, undefined)), no('revoked'))
  assert.deepEqual(refusal(await room.as(member, 'read', {})), no('revoked'))
  assert.equal((await room.as(owner, 'read', {})).body.count, 3)
})

test('only a list that the owner signs and proves follows, and only the one in force', async () => {
  const { room, etag } = await made()
  const list = { prev: etag, devices: [owner.key, stranger.key] }
  assert.deepEqual(refusal(await room.appendAs(member, await room.list(list))), no('not_owner'), 'sent by a member')
  const own = { ...list, owner: member.key, devices: [member.key] }
  assert.deepEqual(refusal(await room.appendAs(member, await room.list(own, member))), no('not_owner'), 'of a member')
  assert.deepEqual(refusal(await room.appendAs(owner, await room.list(list, member))), no('not_owner'), 'signed by a member')
  assert.deepEqual(refusal(await room.appendAs(owner, await room.list(list, owner, 'JWT'))), no('not_owner'), 'another type')
  const without = await room.list({ ...list, devices: [member.key] })
  assert.deepEqual(refusal(await room.appendAs(owner, without)), no('not_owner'), 'without the owner')
  const late = await room.appendAs(owner, await room.list({ ...list, prev: 'A'.repeat(43) }))
  assert.deepEqual(refusal(late), [409, 'room_exists', 'list_changed'])
  for (const line of [
    await room.list({ ...list, room: 'another' }),
    await room.list({ ...list, access: 'x' }),
    await room.list({ ...list, access: `${newAccess().access.slice(0, 42)}_` }),
    await room.list({ ...list, devices: [1] }),
    room.lineOf({ enc: 'A256GCM', policy: 'x' }),
  ])
    assert.equal((await room.appendAs(owner, line)).status, 400)
  assert.equal((await room.as(owner, 'read', {})).body.count, 1)
  assert.equal((await room.appendAs(owner, await room.list(list))).status, 200)
})

test('a list is not made for another room, key or owner', async () => {
  const room = new ListedClient(space, owner)
  const make = (line: string, device = owner) => room.as(device, 'make', { access: room.access, line })
  assert.equal((await make(await room.list({ room: 'another' }))).status, 400)
  assert.equal((await make(await room.list({ access: newAccess().access }))).status, 400)
  assert.equal((await make(await room.list({ prev: 'A'.repeat(43) }))).status, 400)
  assert.deepEqual(refusal(await make(await room.list({ devices: [owner.key, member.key] }), member)), no('not_owner'))
  // Base64url of the same key that is not canonical: unused bits of its last character are set.
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const access = room.access.slice(0, -1) + letters[letters.indexOf(room.access.slice(-1)) + 1]!
  assert.equal((await room.as(owner, 'make', { access, line: await room.list({ access }) })).status, 400)
  assert.equal((await make(await room.list({}))).status, 200)
})

test('a new access key is in force from its line on, in every process; the old one gives nothing but lines to a device on the list', async () => {
  const { room, etag } = await made()
  const beside = Object.assign(Object.create(Object.getPrototypeOf(room) as object) as ListedClient, room)
  const elsewhere = new ListedClient(other, owner)
  for (const name of ['room', 'mk', 'access', 'signingKey'] as const) Object.assign(elsewhere, { [name]: beside[name] })
  assert.equal((await elsewhere.appendAs(member, undefined)).status, 200)
  const { key, access } = newAccess()
  const next = await room.list({ prev: etag, access, devices: [owner.key, member.key], revoked: [stranger.key] })
  assert.equal((await room.appendAs(owner, next)).status, 200)
  for (const client of [room, elsewhere]) {
    assert.deepEqual(refusal(await client.appendAs(member, undefined)), no('bad_room_key'))
    assert.deepEqual(refusal(await client.appendAs(undefined, undefined)), no('bad_room_key'))
    assert.deepEqual(refusal(await client.as(stranger, 'read', {})), no('bad_room_key'))
    assert.deepEqual(refusal(await client.as(undefined, 'read', {})), no('bad_room_key'))
    assert.deepEqual(refusal(await client.as(stranger, 'read', {}, { key })), no('revoked'))
    assert.equal((await client.as(member, 'read', {})).status, 200, 'it gets the new key there')
    assert.equal((await client.appendAs(member, undefined, { key })).status, 200)
  }
})

test('a device on the list with an old key and a wrong clock is not told that the key is wrong, as if it were removed', async () => {
  const { room, etag } = await made()
  const { access } = newAccess()
  await room.appendAs(owner, await room.list({ prev: etag, access, devices: [owner.key, member.key] }))
  for (const seconds of [-600, 600]) {
    const late = { proofIat: Math.floor(Date.now() / 1_000) + seconds }
    assert.deepEqual(refusal(await room.as(member, 'read', {}, late)), no('unproven'))
    assert.deepEqual(refusal(await room.as(stranger, 'read', {}, late)), no('bad_room_key'))
  }
  const guess = { change: { spk: member.spk } }
  assert.deepEqual(refusal(await room.as(stranger, 'read', {}, guess)), no('bad_room_key'), 'who is on the list is not told')
  assert.deepEqual(refusal(await room.as(member, 'read', {}, { change: { proof: 'x.y.z' } })), no('bad_room_key'))
})

test('no line of the old key comes behind the list that replaced it, however many are sent at once', async () => {
  const { room, etag } = await made()
  const { access } = newAccess()
  const next = await room.list({ prev: etag, access, devices: [owner.key, member.key] })
  const lines = await Promise.all(Array.from({ length: 40 }, () => room.seal('x')))
  const sending = lines.map((line) => room.appendAs(member, line))
  const [changed, ...answers] = await Promise.all([room.appendAs(owner, next), ...sending])
  assert.equal(changed.status, 200)
  for (const { status, body } of answers) {
    if (status === 200) assert.ok(body.seq < changed.body.seq, `${body.seq} is not behind ${changed.body.seq}`)
    else assert.deepEqual([status, body.reason], [403, 'bad_room_key'])
  }
})

test('a list that names a hosted agent is a list of the owner like any other', async () => {
  const { room, etag } = await made()
  const named = { prev: etag, devices: [owner.key, member.key, stranger.key], hosted: [{ agent: 'agt_1', device: stranger.key }] }
  const typ = 'atrium-hosted-policy+jws'
  assert.deepEqual(refusal(await room.appendAs(owner, await room.list(named, member, typ))), no('not_owner'))
  assert.equal((await room.appendAs(owner, await room.list(named, owner, typ))).status, 200)
  assert.equal((await room.as(stranger, 'read', {})).status, 200)
})

test('of two lists that follow the same one, one is stored', async () => {
  const { room, etag } = await made()
  const lists = await Promise.all([room.list({ prev: etag }), room.list({ prev: etag, revoked: [stranger.key] })])
  const answers = await Promise.all(lists.map((list) => room.appendAs(owner, list)))
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409])
})

test('a held read ends with the list that removes its device', async () => {
  const { room, etag } = await made()
  const held = room.as(member, 'read', { sinceEtag: etag, sinceCount: 1, waitMs: 20_000 })
  await space.untilHeld(1)
  await room.appendAs(owner, await room.list({ prev: etag, revoked: [member.key] }))
  assert.deepEqual(refusal(await held), no('revoked'))
})

test('classic ops refuse such a room, and sealed names the recipients of its lines', async () => {
  const { room } = await made()
  const { body } = await space.call('turn', { room: room.room, mk: room.mk, message: { text: 'x' } })
  assert.deepEqual(body, { error: 'room_exists', reason: 'client_sealed' })
  assert.deepEqual((await space.call('sealed', { room: room.room })).body.recipients, ['room'])
})

test('a member who fills the room does not keep the owner from removing it', async () => {
  for (const full of ['count = 100000', `bytes = ${64 * 1024 * 1024}`]) {
    const { room, etag } = await made()
    await space.db.query(`update rooms set ${full} where room = $1`, [room.room])
    assert.deepEqual(refusal(await room.appendAs(member, undefined)), [413, 'payload_too_large', 'the room is full'])
    assert.deepEqual(refusal(await room.appendAs(owner, undefined)), [413, 'payload_too_large', 'the room is full'])
    const { status, body } = await room.appendAs(owner, await room.list({ prev: etag, revoked: [member.key] }))
    assert.equal(status, 200, full)
    assert.deepEqual(refusal(await room.appendAs(member, undefined)), no('revoked'))
    await space.db.query('update rooms set count = 100064, bytes = 0 where room = $1', [room.room])
    const next = await room.list({ prev: body.etag })
    assert.deepEqual(refusal(await room.appendAs(owner, next)), [413, 'payload_too_large', 'the room is full'])
  }
})
