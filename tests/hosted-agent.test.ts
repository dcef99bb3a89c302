import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { accompanyAgent, launchHostedAgent, prepareHostedAgent, type PreparedAgent } from '../packages/client/src/agent-visit.ts'
import { createClient } from '../packages/client/src/create-client.ts'
import { generateDevicePairs, type ListedRoom, openListedRoom, roomDeviceOf } from '../packages/client/src/listed-room.ts'
import { newRoomSecret } from '../packages/client/src/new-room-secret.ts'
import { signCard } from '../packages/room-client/src/room-device.ts'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { startAtrium, type AtriumProcess } from './support/atrium-process.ts'
import { eventually, openAgency } from './support/remote-agents.ts'

let database: TestDatabase
let atrium: AtriumProcess
let agency: Awaited<ReturnType<typeof openAgency>>
let agent: { id: string }

before(async () => {
  database = await createTestDatabase()
  atrium = await startAtrium({ databaseUrl: database.url, space: true, env: { ATRIUM_EGRESS: 'loopback' } })
  agency = await openAgency(atrium.origin)
  agent = await newAgent()
})
after(async () => {
  await atrium?.end('SIGKILL')
  await database?.drop()
})

async function newAgent(more: object = {}): Promise<{ id: string }> {
  const manifest = { name: 'Lamplighter', description: 'Lights lamps.', instructions: '', price_credits: 3, max_minutes: 30 }
  const { data } = await agency.client.registerAgent({ body: { ...manifest, ...more } })
  await agency.client.setAgentStatus({ agentId: data.id, body: { status: 'private' } })
  return { id: data.id }
}

const newDevice = async () => roomDeviceOf(await generateDevicePairs())
const more = () => ({ spaceUrl: `${atrium.origin}/v1/space`, audience: atrium.spacesOrigin })

async function newRoom(): Promise<ListedRoom> {
  const room = openListedRoom({ ...more(), room: newRoomSecret().room, device: await newDevice(), name: 'Ada' })
  await room.make()
  return room
}

const hostedIn = async (room: ListedRoom) => (await room.members()).flatMap(({ hostedAgent }) => hostedAgent ?? [])
const conflict = (reason: string) => ({ status: 409, code: 'state_conflict', reason })

async function prepare(room: ListedRoom, of = agent): Promise<{ prepared: PreparedAgent; coupon: string }> {
  const coupon = await agency.newCoupon()
  return { prepared: await prepareHostedAgent(agency.client, room, of, { coupon, max_price_credits: 3 }), coupon }
}

const summon = ({ summonKey }: PreparedAgent, idempotencyKey?: string) =>
  agency.client.summonSession({ body: { summon_key: summonKey }, ...(idempotencyKey !== undefined && { idempotencyKey }) })

test('a platform that does not end a session keeps no device on the list after the end that it had named', async () => {
  const room = await newRoom()
  const { prepared } = await prepare(room)
  const visit = await launchHostedAgent(agency.client, room, prepared)
  const { data } = await agency.client.getSession({ id: visit.session, controlToken: visit.controlToken })
  assert.equal(visit.expiresAt, data.expires_at)
  const endedAgo = (ms: number) => ({ ...visit, expiresAt: new Date(Date.now() - ms).toISOString() })
  const accompany = (endedAgoMs: number, forMs: number) =>
    accompanyAgent(agency.client, room, endedAgo(endedAgoMs), { lookEveryMs: 200, signal: AbortSignal.timeout(forMs) })
  await assert.rejects(accompany(30_000, 3_000), { name: 'TimeoutError' }, 'the clocks may differ')
  assert.deepEqual(await hostedIn(room), [agent.id])
  assert.equal(await accompany(61_000, 60_000), 'expired')
  assert.deepEqual(await hostedIn(room), [])

  // Nor does one that does not answer.
  const again = await prepare(room)
  const { device } = await launchHostedAgent(agency.client, room, again.prepared)
  const fetch = () => Promise.reject(new TypeError('fetch failed'))
  const client = createClient({ baseUrl: `${atrium.origin}/v1`, key: 'pk_none', fetch, retries: 0 })
  const late = { ...endedAgo(61_000), device: device! }
  assert.equal(await accompanyAgent(client, room, late, { signal: AbortSignal.timeout(60_000) }), 'expired')
  assert.deepEqual(await hostedIn(room), [])
})

test('an agent that the owner has consented to reads, answers, is paid, and reads nothing newer', async () => {
  const room = await newRoom()
  await room.say('Before it came.')
  const { prepared, coupon } = await prepare(room)
  assert.deepEqual(await agency.balance(coupon), [5, 0], 'nothing is held before the consent')
  assert.deepEqual(await hostedIn(room), [])
  const visit = await launchHostedAgent(agency.client, room, prepared)
  assert.deepEqual(await agency.balance(coupon), [2, 3])
  assert.deepEqual(await hostedIn(room), [agent.id])
  const accompanied = accompanyAgent(agency.client, room, visit, { lookEveryMs: 200 })
  const control = { id: visit.session, controlToken: visit.controlToken }
  const statusOf = async () => (await agency.client.getSession(control)).data
  await eventually(async () => (await statusOf()).status === 'running', 'it joins')

  const { id } = await room.say('Who lights the lamps?')
  const said = await eventually(async () => {
    return (await room.read()).find(({ member }) => member.hostedAgent === agent.id)
  }, 'it answers')
  assert.match(said.message.text, /Who lights the lamps\?/)
  assert.deepEqual([said.message.reply_to, said.member.name, said.member.key], [id, 'Lamplighter', visit.device])

  await agency.client.stopSession(control)
  assert.equal(await accompanied, 'stopped')
  assert.deepEqual(await agency.balance(coupon), [2, 0])
  assert.deepEqual(await hostedIn(room), [])
  await room.say('It has gone.')
  assert.equal((await statusOf()).charged_credits, 3)
})

test('without the consent nothing is launched or charged, and with it the same launch is accepted', async () => {
  const room = await newRoom()
  const { prepared, coupon } = await prepare(room)
  await assert.rejects(summon(prepared, 'press'), conflict('no_consent'))
  // Another agent, another device, and a device that the list hides as that of a person.
  const other = await prepare(room, await newAgent())
  await room.host({ agent: other.prepared.agent, card: prepared.card })
  await assert.rejects(summon(prepared, 'press'), conflict('no_consent'), 'the consent is for another agent')
  const stranger = await newDevice()
  await room.host({ agent: agent.id, card: await signCard(stranger, room.room, 'Lamplighter') })
  await assert.rejects(summon(prepared, 'press'), conflict('no_consent'), 'the consent is for another device')
  assert.deepEqual(await agency.balance(coupon), [5, 0])

  const again = await prepare(room)
  const device = await room.host({ agent: agent.id, card: again.prepared.card })
  // Many lines behind the consent.
  for (let i = 0; i < 30; i++) await room.say(`line ${i}`)
  await room.expel([device])
  await assert.rejects(summon(again.prepared), conflict('no_consent'), 'it was taken back')
  const third = await prepare(room)
  await room.host({ agent: agent.id, card: third.prepared.card })
  for (let i = 0; i < 30; i++) await room.say(`line ${i} again`)
  assert.equal((await summon(third.prepared)).status, 201)
})

test('a launch that is sent again, also with another key, launches and charges once', async () => {
  const room = await newRoom()
  const { prepared, coupon } = await prepare(room)
  const visits = await Promise.all([1, 2, 3].map(() => launchHostedAgent(agency.client, room, prepared)))
  assert.equal(new Set(visits.map(({ session }) => session)).size, 1)
  const others = await Promise.allSettled([1, 2].map((i) => summon(prepared, `other ${i}`)))
  for (const other of others) assert.equal((other as PromiseRejectedResult).reason.status, 401)
  assert.deepEqual(await agency.balance(coupon), [2, 3])
  const [visit] = visits
  const control = { id: visit!.session, controlToken: visit!.controlToken }
  await agency.client.stopSession(control)
  assert.equal(await accompanyAgent(agency.client, room, visit!), 'stopped')
  // The keys were for one stay.
  await assert.rejects(summon(prepared, 'after the end'), { status: 401 })
})

test('an answer that is lost leaves the consent, and the next call gets the session', async () => {
  const room = await newRoom()
  const { prepared, coupon } = await prepare(room)
  const losing: typeof fetch = async (input, init) => {
    const answer = await fetch(input, init)
    await answer.arrayBuffer()
    throw new TypeError('fetch failed')
  }
  const flaky = createClient({ baseUrl: atrium.origin, key: 'pk_none', fetch: losing, retries: 0 })
  await assert.rejects(launchHostedAgent(flaky, room, prepared), { code: 'network_error' })
  assert.deepEqual(await hostedIn(room), [agent.id], 'readers go on saying so')
  assert.deepEqual(await agency.balance(coupon), [2, 3])
  const visit = await launchHostedAgent(agency.client, room, prepared)
  assert.deepEqual(await agency.balance(coupon), [2, 3])
  await agency.client.stopSession({ id: visit.session, controlToken: visit.controlToken })
  assert.equal(await accompanyAgent(agency.client, room, visit), 'stopped')
})

test('a launch that is refused takes the consent back at once', async () => {
  const room = await newRoom()
  const first = await prepare(room)
  const visit = await launchHostedAgent(agency.client, room, first.prepared)
  const second = await prepare(room)
  await assert.rejects(launchHostedAgent(agency.client, room, second.prepared), { status: 409 })
  assert.deepEqual(await agency.balance(second.coupon), [5, 0])
  assert.deepEqual(
    (await room.members()).filter(({ hostedAgent }) => hostedAgent !== undefined).map(({ key }) => key),
    [visit.device],
  )
  await agency.client.stopSession({ id: visit.session, controlToken: visit.controlToken })
  await accompanyAgent(agency.client, room, visit)
})

const invalidAt = (path: string) => (error: { status?: number; details?: { path: string }[] }) => {
  assert.deepEqual([error.status, error.details?.map((detail) => detail.path)], [400, [path]])
  return true
}

test('a launch that is not prepared for the room is refused with what to do', async () => {
  const room = await newRoom()
  const coupon = await agency.newCoupon()
  const launch = (of: string, secret: { room: string; mk?: string }, arm: boolean) =>
    agency.client.launchSession({ body: { agent_id: of, room: secret, coupon, arm } })
  const { mk } = newRoomSecret()
  await assert.rejects(launch(agent.id, { room: room.room, mk }, false), conflict('client_sealed'))
  await assert.rejects(launch(agent.id, { room: room.room, mk }, true), conflict('client_sealed'))
  await assert.rejects(launch(agent.id, { room: room.room }, false), invalidAt('/room/mk'))
  await assert.rejects(launch(agent.id, { room: newRoomSecret().room }, true), invalidAt('/room/room'))
  const { agentId: remote } = await agency.register('http://127.0.0.1:8080/')
  await assert.rejects(launch(remote, { room: room.room }, true), invalidAt('/room/mk'))
  const classic = newRoomSecret()
  await agency.openRoom(classic).say('A room of the other kind.')
  await assert.rejects(launch(agent.id, { room: classic.room }, true), invalidAt('/room/mk'))
  const spent = agency.client.launchSession({
    body: { agent_id: agent.id, room: { room: room.room }, coupon: 'cpn_x', arm: true },
  })
  await assert.rejects(spent, { code: 'insufficient_credit' })
})
