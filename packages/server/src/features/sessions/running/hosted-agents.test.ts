import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { accompanyAgent, launchHostedAgent, prepareHostedAgent } from '../../../../../client/src/agent-visit.ts'
import { createClient } from '../../../../../client/src/create-client.ts'
import { generateDevicePairs, type ListedRoom, openListedRoom, roomDeviceOf } from '../../../../../client/src/listed-room.ts'
import { newRoomSecret } from '../../../../../client/src/new-room-secret.ts'
import { send } from '#testing/http.ts'
import { startProviderServer } from '#testing/provider-server.ts'
import { eventually, startSessionWorld, type SessionWorld } from '#testing/session-world.ts'
import { endOverdue } from '../session-transitions.ts'

let world: SessionWorld
before(async () => {
  world = await startSessionWorld({ runner: false })
})
after(() => world.close())

interface Row {
  status: string
  mk_sealed: Buffer | null
  device_sealed: Buffer | null
  lease_owner: string | null
}

const rowOf = async (id: string) =>
  (await world.api.ctx.db.pool.query<Row>('select * from sessions where id = $1', [id])).rows[0]!

const balanceOf = async (coupon: string) => {
  const { balance, held } = await world.balance(coupon)
  return [balance, held]
}

async function prepare(manifest: object = {}) {
  const client = createClient({ baseUrl: world.api.origin, key: world.tenant.publishableKey })
  const device = await roomDeviceOf(await generateDevicePairs())
  const { origin } = world.space
  const room = openListedRoom({ spaceUrl: `${origin}/space`, audience: origin, room: newRoomSecret().room, device })
  await room.make()
  const agent = await world.makeAgent({ name: 'Lamplighter', greeting: 'Good evening.', ...manifest })
  const coupon = await world.makeCoupon(5)
  const prepared = await prepareHostedAgent(client, room, { id: agent }, { coupon })
  return { client, room, agent, coupon, prepared }
}

async function launch(manifest: object = {}) {
  const made = await prepare(manifest)
  const visit = await launchHostedAgent(made.client, made.room, made.prepared)
  const control = { id: visit.session, controlToken: visit.controlToken }
  const status = async () => (await made.client.getSession(control)).data
  return { ...made, visit, control, status }
}

const saidBy = async (room: ListedRoom, said: string[], agent: string) => {
  for (const { member, message } of await room.read()) if (member.hostedAgent === agent) said.push(message.text)
  return said
}

test('another worker continues with the same device, and answers no turn twice', async () => {
  const { client, room, agent, visit, control, coupon } = await launch()
  const first = await world.startRunner()
  const said: string[] = []
  const hasSaid = (count: number) =>
    eventually(async () => (await saidBy(room, said, agent)).length >= count && said, 'it speaks')
  await hasSaid(1)
  await room.say('One.')
  await hasSaid(2)
  // The first worker is as good as dead: its lease has run out, and what it had recorded last is lost.
  const { lease_owner: owner } = await rowOf(control.id)
  await world.api.ctx.db.pool.query(
    "update sessions set lease_until = now() - interval '1 second', answered_seq = 1 where id = $1",
    [control.id],
  )
  const second = await world.startRunner()
  await eventually(async () => {
    const now = (await rowOf(control.id)).lease_owner
    return now !== null && now !== owner
  }, 'the second one takes it over')
  await first.stop()
  await room.say('Two.')
  await hasSaid(3)
  assert.equal(said.length, 3, JSON.stringify(said))
  assert.match(said[2] ?? '', /Two/)
  const members = await room.members()
  assert.deepEqual(
    members.filter(({ hostedAgent }) => hostedAgent !== undefined).map(({ key }) => key),
    [visit.device],
  )
  await client.stopSession(control)
  await accompanyAgent(client, room, visit)
  assert.deepEqual(await balanceOf(coupon), [0, 0])
  await second.stop()
})

test('an owner who removes the device before the agent has joined pays nothing', async () => {
  const { room, visit, status, coupon } = await launch()
  await room.expel([visit.device!])
  const runner = await world.startRunner()
  const ended = await eventually(async () => {
    const now = await status()
    return now.status === 'failed' && now
  }, 'it fails')
  assert.deepEqual([ended.error?.code, ended.joined_at], ['room_refused', null])
  assert.deepEqual(await balanceOf(coupon), [5, 0])
  await runner.stop()
})

test('an agent whose device is removed while it is there leaves, and has been paid for what it said', async () => {
  const { room, agent, visit, status } = await launch()
  const runner = await world.startRunner()
  await eventually(async () => (await saidBy(room, [], agent)).length > 0, 'it greets')
  await room.say('Are you there?')
  await eventually(async () => (await saidBy(room, [], agent)).length > 0, 'it answers')
  await room.expel([visit.device!])
  const ended = await eventually(
    async () => {
      const now = await status()
      return now.status === 'failed' && now
    },
    'it fails',
    40_000,
  )
  assert.deepEqual([ended.error?.code, ended.charged_credits], ['room_refused', 5])
  await runner.stop()
})

test('a session that nobody runs until its end releases the hold, and its keys are erased', async () => {
  const { visit, status, coupon } = await launch()
  const { mk_sealed, device_sealed } = await rowOf(visit.session)
  assert.deepEqual([mk_sealed, device_sealed instanceof Buffer], [null, true])
  await world.api.ctx.db.pool.query("update sessions set expires_at = now() - interval '1 second' where id = $1", [visit.session])
  await endOverdue(world.api.ctx, 10)
  assert.equal((await status()).status, 'expired')
  assert.deepEqual(await balanceOf(coupon), [5, 0])
  assert.equal((await rowOf(visit.session)).device_sealed, null)
})

test('a prepared launch has its keys for a quarter of an hour, and until it is used', async () => {
  const { client, room, prepared } = await prepare()
  const before = Date.now()
  assert.ok(Math.abs(Date.parse(prepared.expiresAt) - before - 15 * 60_000) < 30_000)
  assert.notEqual((await rowOf(prepared.id)).device_sealed, null)
  await world.api.ctx.db.pool.query("update sessions set expires_at = now() - interval '1 second' where id = $1", [prepared.id])
  // Also while nobody has swept it.
  await assert.rejects(launchHostedAgent(client, room, prepared), { status: 401 })
  await endOverdue(world.api.ctx, 10)
  assert.equal((await rowOf(prepared.id)).device_sealed, null)
  await assert.rejects(launchHostedAgent(client, room, prepared), { status: 401 })
  assert.equal((await room.members()).length, 1, 'the consent is taken back')

  const used = await launch()
  const [pending, session] = await Promise.all([rowOf(used.prepared.id), rowOf(used.visit.session)])
  assert.deepEqual([pending.status, pending.device_sealed, session.device_sealed instanceof Buffer], ['stopped', null, true])
})

test('a prepared launch of an agent that has become remote is refused, and costs nothing', async () => {
  const { client, room, agent, coupon, prepared } = await prepare()
  const endpoint = { endpoint: 'http://127.0.0.1:8999/' }
  const changed = await send({ baseUrl: world.api.origin }, 'PATCH', `/agents/${agent}`, {
    key: world.tenant.secretKey,
    body: endpoint,
  })
  assert.equal(changed.status, 200, changed.text)
  await assert.rejects(launchHostedAgent(client, room, prepared), {
    status: 409,
    code: 'state_conflict',
    message: /no longer hosted/,
  })
  assert.deepEqual(await balanceOf(coupon), [5, 0])
  assert.equal((await room.members()).length, 1, 'the consent is taken back')
})

test('an agent whose answer a line cannot hold leaves at once, and says why', async (t) => {
  const provider = await startProviderServer()
  t.after(() => provider.close())
  const body = { openai_compatible: { url: provider.compatibleUrl, key: 'sk-canary-12345' } }
  const keys = await send(world.api, 'PUT', '/tenant/provider-keys', { key: world.tenant.secretKey, body })
  assert.equal(keys.status, 200, keys.text)
  // In JSON each of these characters takes six bytes.
  provider.otherwise = () => ({ text: ['\u001b'.repeat(8_000)] })
  const { room, agent, status } = await launch({ model: { provider: 'openai_compatible', id: 'lamp-1' } })
  const runner = await world.startRunner()
  const said: string[] = []
  const hasSaid = (count: number) => eventually(async () => (await saidBy(room, said, agent)).length >= count, 'it speaks')
  await hasSaid(1)
  await room.say('Who lights the lamps?')
  await hasSaid(2)
  assert.match(said[1] ?? '', /^I have to leave: A line of the room cannot hold/)
  const ended = await eventually(async () => {
    const now = await status()
    return now.status === 'failed' && now
  }, 'it fails')
  assert.equal(ended.error?.code, 'room_refused')
  await runner.stop()
})
