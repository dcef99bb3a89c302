import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test, type TestContext } from 'node:test'
import { openClientSealedRoom } from '../../../client/src/client-sealed-room.ts'
import {
  answerInvitation,
  generateDevicePairs,
  type ListedRoom,
  openListedRoom,
  roomDeviceOf,
} from '../../../client/src/listed-room.ts'
import { newRoomSecret } from '../../../client/src/new-room-secret.ts'
import { signCard } from '../../../room-client/src/room-device.ts'
import { startTestSpace, type TestSpace } from '../../../space/src/testing/test-space.ts'
import { checkClientSealedRoom } from './client-sealed-room.ts'
import { Deadline } from './deadline.ts'
import { Downloads } from './download.ts'
import { Report } from './report.ts'
import { parseTarget } from './target.ts'

const audience = 'https://rooms.example'
let space: TestSpace
before(async () => {
  space = await startTestSpace({ ATRIUM_SPACES_URL: audience })
})
after(() => space.close())

const more = () => ({ spaceUrl: `${space.origin}/space`, audience })
const newDevice = async () => roomDeviceOf(await generateDevicePairs())

async function check(fragment: string, origin = space.origin) {
  const { clientSealed } = parseTarget(`${origin}/space#${fragment}`)
  assert.ok(clientSealed)
  const output: string[] = []
  const report = new Report((line) => output.push(line))
  const deadline = new Deadline(60)
  await checkClientSealedRoom(report, new Downloads(origin, deadline), clientSealed, deadline)
  return { failures: report.failures, output: output.join('\n') }
}

/** A service that passes requests on to the real one and changes some answers. */
async function standBefore(t: TestContext, change: (op: string, answer: object) => [number, object] | undefined) {
  const seen: string[] = []
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    seen.push(body)
    const { status, body: answer } = await space.call((JSON.parse(body) as { op: string }).op, JSON.parse(body) as object)
    const [changedStatus, changed] = change((JSON.parse(body) as { op: string }).op, answer) ?? [status, answer]
    res.writeHead(changedStatus, { 'content-type': 'application/json', 'retry-after': '60' }).end(JSON.stringify(changed))
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => server.close())
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

async function openRoom() {
  const room = openClientSealedRoom({ ...more(), ...newRoomSecret() })
  await room.make()
  await room.say('Are the lamps lit?')
  await room.say('They are.')
  return room
}

/** Three generations; the invitation of the last one is open. */
async function listedRoom() {
  const device = await newDevice()
  const room = openListedRoom({ ...more(), room: newRoomSecret().room, device })
  await room.make()
  const grace = await newDevice()
  const hers = await answerInvitation(await room.invite('Grace'), { ...more(), device: grace })
  await room.admit()
  await hers.say('Good evening.')
  await room.say('Good evening, Grace.')
  await room.expel([grace.signing.thumbprint])
  await room.say('She has gone.')
  return { room, owner: device.signing.thumbprint, invitation: await room.invite('Linus') }
}

const linesOf = async ({ room }: { room: string }) => ((await space.call('sealed', { room })).body.sealed as string).split('\n')

test('an open room: chain, authors and the ops that take a key are proved, and its key is not sent', async (t) => {
  const room = await openRoom()
  const { origin, seen } = await standBefore(t, () => undefined)
  const { failures, output } = await check(`${room.room}~${room.mk}`, origin)
  assert.equal(failures, 0, output)
  assert.match(output, /^proved .*3 lines form one unbroken chain.*2 messages/m)
  assert.match(output, /^proved .*refuses every op that takes a room key.*poll, turn, create, admit, expel, rename, remove/m)
  assert.match(output, /^not checked .*a name is a claim/m)
  assert.equal(seen.length, 8)
  assert.ok(!seen.some((body) => body.includes(room.mk)))
  await room.move()
  assert.match((await check(`${room.room}~${room.mk}`)).output, /^proved .*line 3 is a farewell/m)
})

test('a room with a list: lists, generations and authors are proved with an invitation, the lists also without', async () => {
  const { room, owner, invitation } = await listedRoom()
  const { failures, output } = await check(invitation)
  assert.equal(failures, 0, output)
  assert.match(output, new RegExp(`^proved .*${owner} owns the room: it has signed 5 lists.* 2 devices`, 'm'))
  assert.match(output, /^proved .*the key has changed 2 times/m)
  assert.match(output, /^proved .*open 9 lines: 3 messages by 2 devices/m)
  const clear = await check(`${room.room}~~${owner}`)
  assert.equal(clear.failures, 0, clear.output)
  assert.match(clear.output, /^not checked .*the messages and their authors/m)
  assert.match(output, /^proved .*the operator of no agent read along/m)
  const runner = await roomDeviceOf(await generateDevicePairs())
  await room.host({ agent: 'agt_1', card: await signCard(runner, room.room, 'Lamplighter') })
  assert.match((await check(invitation)).output, /^proved .*the operator of agt_1 read along/m)
  await room.expel([runner.signing.thumbprint])
  await removeInvitations(room)
  await room.say('And Linus has not come.')
  const removed = await check(invitation)
  assert.equal(removed.failures, 0, removed.output)
  assert.match(removed.output, /^not checked .*the last 2 lines: the owner has sealed their key for others only/m)
})

async function removeInvitations(room: ListedRoom): Promise<void> {
  await room.expel((await room.invitations()).map(({ key }) => key))
}

test('a changed, missing or added line, another owner and a wrong key are named', async (t) => {
  const open = await openRoom()
  const { room, owner, invitation } = await listedRoom()
  const serving = async (lines: string[]) => {
    const sealed = lines.join('\n')
    const { createHash } = await import('node:crypto')
    const sha256 = createHash('sha256').update(sealed).digest('hex')
    const answer = { alg: 'A256GCM', bytes: Buffer.byteLength(sealed), sha256, recipients: ['room'], sealed }
    return (await standBefore(t, (op) => (op === 'sealed' ? [200, answer] : undefined))).origin
  }
  const lines = await linesOf(open)
  const link = `${open.room}~${open.mk}`
  const listed = await linesOf(room)
  const flip = (line: string) => line.replace(/"tag":"(.)/, (_, first) => `"tag":"${first === 'A' ? 'B' : 'A'}`)
  const cases: [string, string, RegExp][] = [
    [link, await serving(lines.toSpliced(1, 1)), /line 1 \(number\)/],
    [link, await serving(lines.with(1, flip(lines[1] ?? ''))), /line 2 \(chain\)/],
    [link, await serving(lines.with(2, flip(lines[2] ?? ''))), /line 2 \(sealed\)/],
    [`${open.room}~${newRoomSecret().mk}`, space.origin, /line 0 \(sealed\): the key does not open it/],
    [invitation, await serving(listed.with(8, flip(listed[8] ?? ''))), /line 8 \(sealed\)/],
    [`${room.room}~${owner}~`, await serving(listed.slice(1)), /line 0 \(number\)/],
    [`${room.room}~${'A'.repeat(43)}~`, space.origin, /line 0 \(policy\)/],
    [`${room.room}~${newRoomSecret().mk}`, space.origin, /line 0 \(form\)/],
  ]
  for (const [fragment, origin, said] of cases) {
    const { failures, output } = await check(fragment, origin)
    assert.equal(failures, 1, output)
    assert.match(output, said)
    assert.match(output, /^FAILED/m)
  }
})

test('a service that takes a room key for such a room is found out', async (t) => {
  const open = await openRoom()
  for (const op of ['poll', 'turn', 'create', 'admit', 'expel', 'rename', 'remove']) {
    const { origin } = await standBefore(t, (asked) => (asked === op ? [200, { ok: true }] : undefined))
    const { failures, output } = await check(`${open.room}~${open.mk}`, origin)
    assert.equal(failures, 1, output)
    assert.match(output, new RegExp(`^FAILED .*${op} with a room key is not refused`, 'm'))
  }
})

test('a service that is full, or has no answer now, is not accused', async (t) => {
  const open = await openRoom()
  const full = await startTestSpace({ ATRIUM_SPACES_URL: audience, ATRIUM_SPACE_MAX_BYTES: '1' }, space.databaseUrl)
  t.after(() => full.close())
  const honest = await check(`${open.room}~${open.mk}`, full.origin)
  assert.equal(honest.failures, 0, honest.output)
  assert.match(honest.output, /^proved .*refuses every op that takes a room key.*poll, turn, create, admit/m)
  const busy: Record<string, number> = { turn: 429, create: 503 }
  const { origin } = await standBefore(t, (op) => (busy[op] === undefined ? undefined : [busy[op], {}]))
  const { failures, output } = await check(`${open.room}~${open.mk}`, origin)
  assert.equal(failures, 0, output)
  for (const [op, status] of Object.entries(busy))
    assert.match(output, new RegExp(`^not checked .*${op} with a room key is refused for this room: it answers ${status}`, 'm'))
  assert.match(output, /^proved .*refuses ops that take a room key.*\(poll, admit, expel, rename, remove\)/m)
})

test('as many recipients are read as a room may have', async (t) => {
  const { invitation } = await listedRoom()
  const recipients = [...Array.from({ length: 10_000 }, (_, i) => `device-${i}`), 'unnamed']
  const { origin } = await standBefore(t, (op, answer) => (op === 'sealed' ? [200, { ...answer, recipients }] : undefined))
  const { failures, output } = await check(invitation, origin)
  assert.equal(failures, 0, output)
})

test('links of each kind are told apart, and a wrong one is refused without being quoted', () => {
  const mk = 'k'.repeat(43)
  const at = (fragment: string) => parseTarget(`https://rooms.example/space#${fragment}`)
  assert.deepEqual(at(`lantern.${mk}`).secret, { room: 'lantern', mk })
  assert.deepEqual(at(`lantern~${mk}`).clientSealed, { room: 'lantern', mk })
  assert.deepEqual(at(`lantern~${mk}~`).clientSealed, { room: 'lantern', owner: mk })
  assert.deepEqual(at(`lantern~~${mk}`).clientSealed, { room: 'lantern', owner: mk })
  assert.deepEqual(at(`lantern~~${mk}~${'x'.repeat(43)}`).clientSealed, { room: 'lantern', owner: mk })
  assert.deepEqual(at(`lantern~${mk}~${'x'.repeat(258)}`).clientSealed, { room: 'lantern', owner: mk, keys: 'x'.repeat(258) })
  for (const wrong of ['lantern', 'lantern~short', '~', `~${mk}`, `a b~${mk}`])
    assert.throws(
      () => at(wrong),
      (error) => error instanceof TypeError && !error.message.includes(mk),
    )
})
