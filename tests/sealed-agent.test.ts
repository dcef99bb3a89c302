import assert from 'node:assert/strict'
import { after, before, test, type TestContext } from 'node:test'
import type { SessionLaunchedSealed } from '../packages/client/src/agent-request.ts'
import { accompanyAgent, launchAgent, sealForAgent } from '../packages/client/src/agent-visit.ts'
import { createClient } from '../packages/client/src/create-client.ts'
import {
  answerInvitation,
  generateDevicePairs,
  type ListedRoom,
  openListedRoom,
  roomDeviceOf,
} from '../packages/client/src/listed-room.ts'
import { newRoomSecret } from '../packages/client/src/new-room-secret.ts'
import { verifyAgentRequest } from '../packages/client/src/remote-agent.ts'
import {
  generateAgentKey,
  joinSealedSession,
  publicPartOf,
  SealedAgentSession,
  SealedKeyError,
} from '../packages/client/src/sealed-agent.ts'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { startAtrium, type AtriumProcess } from './support/atrium-process.ts'
import { eventually, openAgency, startEndpoint } from './support/remote-agents.ts'

let database: TestDatabase
let atrium: AtriumProcess
let agency: Awaited<ReturnType<typeof openAgency>>

before(async () => {
  database = await createTestDatabase()
  atrium = await startAtrium({ databaseUrl: database.url, space: true, env: { ATRIUM_EGRESS: 'loopback' } })
  agency = await openAgency(atrium.origin)
})
after(async () => {
  await atrium?.end('SIGKILL')
  await database?.drop()
})

const newDevice = async () => roomDeviceOf(await generateDevicePairs())
const more = () => ({ spaceUrl: `${atrium.origin}/v1/space`, audience: atrium.spacesOrigin })

async function newRoom(): Promise<ListedRoom> {
  const room = openListedRoom({ ...more(), room: newRoomSecret().room, device: await newDevice(), name: 'Ada' })
  await room.make()
  return room
}

const texts = async (room: ListedRoom) => (await room.read()).map(({ message }) => message.text)

/** A remote agent that repeats what it reads. */
async function startAgent(t: TestContext) {
  const agentKey = await generateAgentKey()
  const joined: SealedAgentSession[] = []
  const failed: unknown[] = []
  let secret = ''
  const work = async (launch: SessionLaunchedSealed) => {
    const session = await joinSealedSession(launch, { agentKey, name: 'Dice', lookEveryMs: 300 })
    joined.push(session)
    for await (const entry of session.entries) await session.reply(entry, `You said: ${entry.message.text}`)
  }
  const endpoint = await startEndpoint(t, async (body, headers) => {
    const request = await verifyAgentRequest(body, headers, secret)
    if (request.type === 'session.launched_sealed') void work(request).catch((error: unknown) => failed.push(error))
    return 204
  })
  const registered = await agency.register(endpoint.url, { encryption_key: publicPartOf(agentKey) })
  secret = registered.secret
  const agent = { id: registered.agentId, encryption_key: publicPartOf(agentKey) }
  return { agent, agentKey, endpoint, joined, failed }
}

test('a remote agent joins with what was sealed to its key, answers, is paid, and then reads nothing newer', async (t) => {
  const { agent, endpoint, joined, failed } = await startAgent(t)
  const room = await newRoom()
  await room.say('Before it came.')
  const coupon = await agency.newCoupon()
  const visit = await launchAgent(agency.client, room, agent, { coupon, max_price_credits: 3 })
  assert.deepEqual(await agency.balance(coupon), [2, 3])
  const accompanied = accompanyAgent(agency.client, room, visit, { lookEveryMs: 300 })
  const session = await eventually(async () => joined[0], 'it joins')
  assert.equal((await session.status()).status, 'running')
  assert.equal((await session.room.members()).length, 2)

  await room.say('Is anybody there?')
  const said = await eventually(async () => {
    const entries = await room.read()
    return entries.find(({ member }) => member.name === 'Dice')
  }, 'it answers')
  assert.equal(said.message.text, 'You said: Is anybody there?', 'and not what was said before it came')
  assert.equal(said.member.invitedAs, visit.invitedAs)

  const control = { id: visit.session, controlToken: visit.controlToken }
  await agency.client.stopSession(control)
  assert.equal(await accompanied, 'stopped')
  assert.deepEqual(await agency.balance(coupon), [2, 0])
  assert.equal((await room.members()).length, 1)
  await room.say('It has gone.')
  await assert.rejects(session.room.read(), { name: 'NotListedError' })
  await assert.rejects(session.say('I stay.'), { name: 'SessionOverError' })
  const fresh = openListedRoom({ ...more(), room: room.room, device: await newDevice(), owner: (await room.members())[0]!.key })
  await assert.rejects(fresh.read(), { name: 'NotListedError' })
  assert.deepEqual(failed, [])

  // The platform has sent no key.
  assert.equal('mk' in endpoint.launchedSealed(), false)
})

test('while no client of the owner runs, an agent keeps its device, and loses it when the owner comes back', async (t) => {
  const { agent, agentKey, endpoint, joined } = await startAgent(t)
  const room = await newRoom()
  const visit = await launchAgent(agency.client, room, agent, { coupon: await agency.newCoupon() })
  const leaving = new AbortController()
  const accompanied = accompanyAgent(agency.client, room, visit, { signal: leaving.signal })
  const session = await eventually(async () => joined[0], 'it joins')
  leaving.abort(new Error('the page is closed'))
  await assert.rejects(accompanied, /the page is closed/)
  await session.stop()
  await room.say('Nobody has changed the key yet.')
  assert.deepEqual(await texts(session.room), ['Nobody has changed the key yet.'])

  // The owner's client starts again, and finds that the service fails at first.
  let failures = 3
  const flaky: typeof fetch = (...args) => (failures-- > 0 ? Promise.reject(new TypeError('fetch failed')) : fetch(...args))
  const client = createClient({ baseUrl: `${atrium.origin}/v1`, key: 'pk_none', fetch: flaky, retries: 0 })
  assert.equal(await accompanyAgent(client, room, visit), 'stopped')
  assert.ok(failures < 0)
  await room.say('Now it has.')
  await assert.rejects(session.room.read(), { name: 'NotListedError', reason: 'bad_room_key' })

  // A launch that is repeated afterwards, with the old invitation, opens nothing either.
  await assert.rejects(joinSealedSession(endpoint.launchedSealed(), { agentKey }), { name: 'NotListedError' })
})

test('an agent that restarts before it has noted its reply writes it once, also if it then says something else', async (t) => {
  const agentKey = await generateAgentKey()
  const endpoint = await startEndpoint(t, () => 204)
  const encryption_key = publicPartOf(agentKey)
  const { agentId } = await agency.register(endpoint.url, { encryption_key })
  const room = await newRoom()
  const visit = await launchAgent(agency.client, room, { id: agentId, encryption_key }, { coupon: await agency.newCoupon() })
  const accompanied = accompanyAgent(agency.client, room, visit, { lookEveryMs: 300 })
  const launch = await eventually(async () => endpoint.requests.length > 0 && endpoint.launchedSealed(), 'it is launched')
  const device = await newDevice()
  const join = () => joinSealedSession(launch, { agentKey, device })
  const first = await join()
  t.after(() => first.stop())
  await room.say('Roll two dice.')
  await room.say('And two more.')
  const asked = async (session: SealedAgentSession) => {
    const entries = session.entries[Symbol.asyncIterator]()
    return [(await entries.next()).value!, (await entries.next()).value!]
  }
  const [one] = await asked(first)
  const said = await first.reply(one, 'Seven.')
  first.end()
  const second = await join()
  const [again, next] = await asked(second)
  assert.equal(again!.id, one!.id, 'it reads again what was said since the launch')
  assert.deepEqual(await second.reply(again, 'Eight.'), said)
  await second.reply(next, 'Nine.')
  const read = await room.read()
  assert.deepEqual(
    read.map(({ message: { text, reply_to } }) => [text, reply_to]),
    [
      ['Roll two dice.', undefined],
      ['And two more.', undefined],
      ['Seven.', one!.id],
      ['Nine.', next!.id],
    ],
  )
  await first.stop()
  assert.equal(await accompanied, 'stopped')
})

test('a launch that is sent again, with another control token, joins with the device that was admitted', async (t) => {
  const agentKey = await generateAgentKey()
  const endpoint = await startEndpoint(t, () => 204)
  const encryption_key = publicPartOf(agentKey)
  const { agentId } = await agency.register(endpoint.url, { encryption_key })
  const room = await newRoom()
  const coupon = await agency.newCoupon()
  const visit = await launchAgent(agency.client, room, { id: agentId, encryption_key }, { coupon })
  const accompanied = accompanyAgent(agency.client, room, visit, { lookEveryMs: 300 })
  const launch = await eventually(async () => endpoint.requests.length > 0 && endpoint.launchedSealed(), 'it is launched')
  // A worker that takes over a launch makes another token, and the one before is refused.
  const stale = { ...launch, control_token: 'sct_replaced' }
  await assert.rejects(joinSealedSession(stale, { agentKey, lookEveryMs: 60_000 }), { code: 'unauthorized' })
  assert.equal((await room.members()).length, 2, 'its device was admitted')
  const session = await joinSealedSession(launch, { agentKey })
  assert.equal((await session.status()).status, 'running')
  assert.equal((await room.members()).length, 2)
  await session.say('Here I am.')
  await session.stop()
  assert.equal(await accompanied, 'stopped')
  assert.deepEqual(await agency.balance(coupon), [2, 0])
})

test('an agent that cannot be reached costs nothing, and its invitation is taken back', async (t) => {
  const endpoint = await startEndpoint(t, () => 500)
  const encryption_key = publicPartOf(await generateAgentKey())
  const { agentId } = await agency.register(endpoint.url, { encryption_key })
  const room = await newRoom()
  const coupon = await agency.newCoupon()
  const visit = await launchAgent(agency.client, room, { id: agentId, encryption_key }, { coupon })
  assert.equal((await room.invitations()).length, 1)
  assert.equal(await accompanyAgent(agency.client, room, visit, { lookEveryMs: 300 }), 'failed')
  assert.equal((await room.invitations()).length, 0)
  assert.deepEqual(await agency.balance(coupon), [5, 0])
})

test('only the invited agent is admitted, and others who have answered wait for the owner', async (t) => {
  const { agent, joined } = await startAgent(t)
  const room = await newRoom()
  const grace = await newDevice()
  await answerInvitation(await room.invite('Grace, by telephone'), { ...more(), device: grace })
  const visit = await launchAgent(agency.client, room, agent, { coupon: await agency.newCoupon() })
  const accompanied = accompanyAgent(agency.client, room, visit, { lookEveryMs: 300 })
  const session = await eventually(async () => joined[0], 'it joins')
  assert.deepEqual(
    (await room.invitations()).map(({ invitedAs, answeredBy }) => [invitedAs, answeredBy?.key]),
    [['Grace, by telephone', grace.signing.thumbprint]],
  )
  await session.stop()
  await accompanied
})

test('a launch that fails takes its invitation back, and a second one into the room is refused', async (t) => {
  const { agent, joined } = await startAgent(t)
  const room = await newRoom()
  await assert.rejects(launchAgent(agency.client, room, agent, { coupon: 'cpn_unknown' }), { code: 'insufficient_credit' })
  await assert.rejects(launchAgent(agency.client, room, { id: agent.id }, { coupon: 'cpn_unknown' }), TypeError)
  const visit = await launchAgent(agency.client, room, agent, { coupon: await agency.newCoupon() })
  const accompanied = accompanyAgent(agency.client, room, visit, { lookEveryMs: 300 })
  await eventually(async () => joined[0], 'it joins')
  const second = launchAgent(agency.client, room, agent, { coupon: await agency.newCoupon() })
  await assert.rejects(second, { name: 'AgentPresentError', session: visit.session })
  assert.deepEqual(await room.invitations(), [])
  await joined[0]!.stop()
  await accompanied
})

test('a key that was sealed for another agent, room or key is not used', async (t) => {
  const { agent, agentKey } = await startAgent(t)
  const launch = (sealed_key: string) =>
    ({ room: 'harbour', agent_id: agent.id, sealed_key, space_url: more().spaceUrl }) as SessionLaunchedSealed
  const invitation = `harbour~${'A'.repeat(43)}~${'A'.repeat(258)}`
  const stranger = publicPartOf(await generateAgentKey())
  for (const sealed of [
    await sealForAgent({ ...agent, id: 'agt_other' }, 'harbour', invitation),
    await sealForAgent(agent, 'pier', invitation),
    await sealForAgent(agent, 'harbour', invitation.replace('harbour', 'pier')),
    await sealForAgent({ ...agent, encryption_key: stranger }, 'harbour', invitation),
    'nothing',
  ])
    await assert.rejects(joinSealedSession(launch(sealed), { agentKey }), SealedKeyError)
})

const invalidAt = (path: string) => (error: { status?: number; details?: { path: string }[] }) => {
  assert.deepEqual([error.status, error.details?.map((detail) => detail.path)], [400, [path]])
  return true
}

test('a launch with a sealed key is refused with what to do', async (t) => {
  const { agent } = await startAgent(t)
  const room = await newRoom()
  const sealed_key = await sealForAgent(agent, room.room, 'an invitation')
  const { agentId: keyless } = await agency.register('http://127.0.0.1:8080/')
  const coupon = await agency.newCoupon()
  const launch = (secret: { room: string; mk?: string; sealed_key?: string }, extra: { agent_id?: string; arm?: boolean } = {}) =>
    agency.client.launchSession({ body: { agent_id: agent.id, room: secret, coupon, ...extra } })
  const { mk } = newRoomSecret()
  const conflict = (reason: string) => ({ status: 409, code: 'state_conflict', reason })
  await assert.rejects(launch({ room: room.room, sealed_key }, { agent_id: keyless }), conflict('client_sealed'))
  await assert.rejects(launch({ room: room.room, mk }), conflict('client_sealed'))
  const other = { id: agent.id, encryption_key: publicPartOf(await generateAgentKey()) }
  const stale = await sealForAgent(other, room.room, 'an invitation')
  await assert.rejects(launch({ room: room.room, sealed_key: stale }), conflict('agent_key_changed'))

  const header = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const [, ...rest] = sealed_key.split('.')
  await assert.rejects(launch({ room: room.room }), invalidAt('/room/mk'))
  await assert.rejects(launch({ room: room.room, mk, sealed_key }), invalidAt('/room/mk'))
  await assert.rejects(launch({ room: room.room, sealed_key }, { arm: true }), invalidAt('/arm'))
  await assert.rejects(launch({ room: room.room, sealed_key: 'nothing' }), invalidAt('/room/sealed_key'))
  await assert.rejects(
    launch({ room: room.room, sealed_key: [header({ alg: 'dir' }), ...rest].join('.') }),
    invalidAt('/room/sealed_key'),
  )
  await assert.rejects(launch({ room: newRoomSecret().room, sealed_key }), invalidAt('/room/room'))
  const classic = newRoomSecret()
  await agency.openRoom(classic).say('A room of the other kind.')
  await assert.rejects(launch({ room: classic.room, sealed_key }), invalidAt('/room/sealed_key'))
  assert.deepEqual(await agency.balance(coupon), [5, 0])
})

test('a remote agent has an encryption key, and nobody else does', async (t) => {
  const { agent } = await startAgent(t)
  const { client } = agency
  await client.setAgentStatus({ agentId: agent.id, body: { status: 'active' } })
  const shown = async () => (await client.listCatalog({ query: { limit: 200 } })).data.find(({ id }) => id === agent.id)
  assert.deepEqual((await shown())?.encryption_key, agent.encryption_key)
  const next = publicPartOf(await generateAgentKey())
  await client.updateAgent({ agentId: agent.id, body: { encryption_key: next } })
  assert.deepEqual((await shown())?.encryption_key, next)
  const refused = (path: string, encryption_key: object, endpoint?: string) => {
    const body = {
      name: 'D',
      description: 'D',
      instructions: '',
      price_credits: 0,
      max_minutes: 1,
      ...(endpoint && { endpoint }),
    }
    return assert.rejects(client.registerAgent({ body: { ...body, encryption_key } as never }), invalidAt(path))
  }
  await refused('/encryption_key', next)
  await refused('/encryption_key', { ...next, y: next.x }, 'http://127.0.0.1:8080/')
  await refused('/encryption_key/d', await generateAgentKey(), 'http://127.0.0.1:8080/')
  await client.updateAgent({ agentId: agent.id, body: { endpoint: null } })
  assert.equal((await client.getAgent({ agentId: agent.id })).data.encryption_key, undefined)
})
