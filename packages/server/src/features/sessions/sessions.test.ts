import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { newCredential } from '#crypto/random.ts'
import { assertError, send, sendUntilServed } from '#testing/http.ts'
import { eventually, startSessionWorld, type Room, type SessionWorld } from '#testing/session-world.ts'
import { openClientSealedRoom } from '../../../../client/src/client-sealed-room.ts'
import { newRoomSecret } from '../../../../client/src/new-room-secret.ts'
import { auditLedger } from '../credits/ledger/audit-store.ts'

let world: SessionWorld

before(async () => {
  world = await startSessionWorld()
})

after(() => world.close())

const answersIn = async (room: Room) => (await world.entries(room)).filter(({ author }) => author.kind === 'agent')
const statusOf = (id: string, token: string) => world.control('GET', `/sessions/${id}`, token)
const running = (id: string, token: string) =>
  eventually(async () => (await statusOf(id, token)).body.data.status === 'running', 'the session runs')

describe('a launch', () => {
  test('into a room whose lines the clients seal is refused, holds nothing and need not be repeated', async () => {
    const agentId = await world.makeAgent({})
    const coupon = await world.makeCoupon(8)
    const secret = newRoomSecret()
    const spaceUrl = `${world.space.origin}/space`
    const room = openClientSealedRoom({ spaceUrl, ...secret })
    await room.make()
    // A key that is made up: a launch with the real one would give it to the platform.
    const refused = await world.launch(agentId, { room: secret.room, mk: newRoomSecret().mk }, coupon)
    assertError(refused, 409, 'state_conflict')
    assert.equal(refused.body.error.reason, 'client_sealed')
    assert.deepEqual(await world.balance(coupon), { balance: 8, held: 0, currency: 'credits' })
  })

  test('brings the agent into the room, where it answers people within two seconds, and is paid when it stops', async () => {
    const agentId = await world.makeAgent({ greeting: 'Good evening.' })
    const coupon = await world.makeCoupon(8)
    const room = world.newRoom()
    const launched = await world.launch(agentId, room, coupon)
    assert.equal(launched.status, 201, launched.text)
    assert.equal(launched.headers.get('cache-control'), 'no-store')
    const { id, control_token: token, status, price_credits: price } = launched.body.data
    assert.deepEqual([status, price], ['launching', 5])
    assert.deepEqual(await world.balance(coupon), { balance: 3, held: 5, currency: 'credits' })
    await eventually(async () => (await answersIn(room)).some(({ message }) => message.text === 'Good evening.'), 'it greets')
    await world.say(room, 'Is anybody there?')
    const saidAt = Date.now()
    const answer = await eventually(async () => (await answersIn(room))[1], 'it answers')
    // A poll that nothing wakes takes 25 seconds.
    assert.ok(Date.now() - saidAt < 8_000)
    assert.match(answer.message.text, /Is anybody there/)
    assert.equal(answer.author.id, agentId)
    const before = (await statusOf(id, token)).body.data
    assert.deepEqual([before.status, before.charged_credits, before.max_minutes], ['running', 0, 30])
    const stopped = await world.control('POST', `/sessions/${id}/stop`, token)
    assert.deepEqual([stopped.status, stopped.body.data], [200, { sessionId: id, status: 'stopped' }])
    const settled = (await statusOf(id, token)).body.data
    assert.deepEqual([settled.status, settled.charged_credits], ['stopped', 5])
    assert.deepEqual(await world.balance(coupon), { balance: 3, held: 0, currency: 'credits' })
    const again = await world.control('POST', `/sessions/${id}/stop`, token)
    assert.deepEqual(again.body, stopped.body)
    // After the answer to a stop the agent posts nothing.
    await world.say(room, 'Still there?')
    const probe = await world.launch(agentId, room, await world.makeCoupon(5))
    await running(probe.body.data.id, probe.body.data.control_token)
    assert.ok(!(await answersIn(room)).some(({ message }) => message.text.includes('Still there')))
    await world.control('POST', `/sessions/${probe.body.data.id}/stop`, probe.body.data.control_token)
  })

  test('a retry gives the same bytes, launches once and holds once', async () => {
    const agentId = await world.makeAgent()
    const coupon = await world.makeCoupon(20)
    const body = { agent_id: agentId, room: world.newRoom(), coupon }
    const key = { key: world.tenant.secretKey, idempotencyKey: randomUUID(), body }
    const all = await Promise.all(Array.from({ length: 10 }, () => sendUntilServed(world.api, 'POST', '/sessions', key)))
    assert.deepEqual(new Set(all.map(({ status, text }) => `${status} ${text}`)).size, 1)
    assert.equal(all[0]!.status, 201)
    assert.equal((await world.balance(coupon)).held, 5)
    await world.control('POST', `/sessions/${all[0]!.body.data.id}/stop`, all[0]!.body.data.control_token)
    const replay = await send(world.api, 'POST', '/sessions', key)
    assert.equal(replay.text, all[0]!.text)
  })

  test('20 concurrent launches of one agent into one room: one session and one hold; the others answer that it is present', async () => {
    const agentId = await world.makeAgent()
    const coupon = await world.makeCoupon(200)
    const room = world.newRoom()
    const body = { agent_id: agentId, room, coupon }
    const launch = () =>
      sendUntilServed(world.api, 'POST', '/sessions', { key: world.tenant.secretKey, idempotencyKey: randomUUID(), body })
    const all = await Promise.all(Array.from({ length: 20 }, launch))
    const first = all.filter(({ status }) => status === 201)
    assert.equal(first.length, 1)
    for (const other of all.filter(({ status }) => status !== 201)) {
      assert.equal(other.status, 200)
      assert.deepEqual(other.body.data, { id: first[0]!.body.data.id, agent_id: agentId, room: room.room, already_present: true })
    }
    assert.deepEqual(await world.balance(coupon), { balance: 195, held: 5, currency: 'credits' })
    await world.control('POST', `/sessions/${first[0]!.body.data.id}/stop`, first[0]!.body.data.control_token)
  })

  test('that cannot be paid is 402 and leaves nothing, with an unknown coupon too', async () => {
    const agentId = await world.makeAgent()
    const room = world.newRoom()
    const coupon = await world.makeCoupon(4)
    const refused = await world.launch(agentId, room, coupon)
    assertError(refused, 402, 'insufficient_credit')
    assert.match(refused.body.error.message, /^The launch needs \d+ credits, and the coupon has less\. Nothing was charged\.$/)
    assertError(await world.launch(agentId, room, newCredential('coupon')), 402, 'insufficient_credit')
    const unknown = await world.launch(agentId, room, 'nonsense')
    assertError(unknown, 402, 'insufficient_credit')
    assert.match(unknown.body.error.message, /^There is no credit under this coupon/)
    assert.deepEqual(await world.balance(coupon), { balance: 4, held: 0, currency: 'credits' })
    const enough = await world.launch(agentId, room, await world.makeCoupon(5))
    assert.equal(enough.status, 201)
    await world.control('POST', `/sessions/${enough.body.data.id}/stop`, enough.body.data.control_token)
  })

  test('of an agent that may not be launched is 400, with the wrong room key 403, without an Idempotency-Key 400', async () => {
    const other = await world.api.makeTenant('Other')
    const agentId = await world.makeAgent()
    const coupon = await world.makeCoupon(50)
    const room = world.newRoom()
    const draft = await send({ baseUrl: world.api.origin }, 'POST', '/agents', {
      key: other.secretKey,
      body: { name: 'Draft', description: 'd', instructions: '', price_credits: 0, max_minutes: 1 },
    })
    assertError(await world.launch(draft.body.data.id, room, coupon), 400, 'invalid_request')
    await world.say(room, 'hello')
    const wrong = await world.launch(agentId, { ...room, mk: `x${room.mk}` }, coupon)
    assertError(wrong, 403, 'not_authorized')
    assert.equal(wrong.body.error.reason, 'bad_room_key')
    const body = { agent_id: agentId, room, coupon }
    assertError(
      await send(world.api, 'POST', '/sessions', { key: world.tenant.secretKey, body }),
      400,
      'idempotency_key_required',
    )
    assert.deepEqual(await world.balance(coupon), { balance: 50, held: 0, currency: 'credits' })
  })
})

describe('a pending launch', () => {
  test('costs nothing until its summon key is used, and the key can be used again after the session', async () => {
    const agentId = await world.makeAgent()
    const coupon = await world.makeCoupon(20)
    const room = world.newRoom()
    const armed = await world.launch(agentId, room, coupon, { arm: true })
    assert.equal(armed.status, 201)
    const { id: armedId, summon_key: summonKey, expires_at: expiresAt, ...rest } = armed.body.data
    const days = (Date.parse(expiresAt) - Date.now()) / 86_400_000
    assert.ok(days > 89.9 && days <= 90, expiresAt)
    assert.deepEqual(rest, { status: 'armed', agent_id: agentId, room: room.room })
    assert.deepEqual(await world.balance(coupon), { balance: 20, held: 0, currency: 'credits' })
    const summon = (key = summonKey) =>
      send({ baseUrl: world.api.origin }, 'POST', '/sessions/summon', { body: { summon_key: key } })
    const first = await summon()
    assert.equal(first.status, 201, first.text)
    assert.notEqual(first.body.data.id, armedId)
    assertError(await summon(), 409, 'state_conflict')
    await running(first.body.data.id, first.body.data.control_token)
    await world.control('POST', `/sessions/${first.body.data.id}/stop`, first.body.data.control_token)
    const second = await summon()
    assert.equal(second.status, 201)
    await running(second.body.data.id, second.body.data.control_token)
    await world.control('POST', `/sessions/${second.body.data.id}/stop`, second.body.data.control_token)
    assert.deepEqual(await world.balance(coupon), { balance: 10, held: 0, currency: 'credits' })
    assertError(await summon(newCredential('summonKey')), 401, 'unauthorized')
    assertError(await send(world.api, 'POST', '/sessions/summon', { body: { summon_key: summonKey } }), 404, 'not_found')
  })
})

describe('a pending launch whose agent has a new price', () => {
  test('is never charged more than the price when it was reserved, and profits from a lower one', async () => {
    const root = { baseUrl: world.api.origin }
    const agentId = await world.makeAgent({ price_credits: 5 })
    const coupon = await world.makeCoupon(20)
    const armed = (await world.launch(agentId, world.newRoom(), coupon, { arm: true })).body.data
    const summon = () => send(root, 'POST', '/sessions/summon', { body: { summon_key: armed.summon_key } })
    const setPrice = async (price: number) => {
      const body = { price_credits: price }
      assert.equal((await send(root, 'PATCH', `/agents/${agentId}`, { key: world.tenant.secretKey, body })).status, 200)
    }
    await setPrice(6)
    const dearer = await summon()
    assertError(dearer, 409, 'price_changed')
    const [{ price_credits: now, agreed_price_credits: agreed }] = dearer.body.error.details
    assert.deepEqual([now, agreed], [6, 5])
    assert.deepEqual(await world.balance(coupon), { balance: 20, held: 0, currency: 'credits' })
    for (const price of [5, 4]) {
      await setPrice(price)
      const { status, body, text } = await summon()
      assert.deepEqual([status, body.data?.price_credits], [201, price], text)
      await running(body.data.id, body.data.control_token)
      await world.control('POST', `/sessions/${body.data.id}/stop`, body.data.control_token)
    }
    assert.deepEqual(await world.balance(coupon), { balance: 11, held: 0, currency: 'credits' })
  })
})

describe('a control token', () => {
  test('opens its own session and no other', async () => {
    const agentId = await world.makeAgent()
    const [one, two] = await Promise.all(
      [1, 2].map(async () => (await world.launch(agentId, world.newRoom(), await world.makeCoupon(5))).body.data),
    )
    assertError(await statusOf(one.id, two.control_token), 404, 'not_found')
    assertError(await world.control('POST', `/sessions/${one.id}/stop`, two.control_token), 403, 'not_authorized')
    assertError(await statusOf(one.id, newCredential('controlToken')), 401, 'unauthorized')
    assertError(await world.control('GET', `/sessions/${one.id}`, world.tenant.secretKey), 401, 'unauthorized')
    for (const { id, control_token: token } of [one, two]) await world.control('POST', `/sessions/${id}/stop`, token)
  })

  test('shows the tools of its agent, without secrets', async () => {
    const tool = {
      name: 'find_lamp',
      description: 'Finds.',
      parameters: { type: 'object' },
      url: 'https://lamps.example/find',
      secret: 'canary',
    }
    const agentId = await world.makeAgent({ tools: [tool] })
    const { id, control_token: token } = (await world.launch(agentId, world.newRoom(), await world.makeCoupon(5))).body.data
    const got = await world.control('GET', `/agents/${agentId}/tools`, token)
    assert.equal(got.status, 200)
    assert.equal(got.body.data.tools[0].has_secret, true)
    assert.ok(!got.text.includes('canary'))
    assertError(await world.control('GET', `/agents/${await world.makeAgent()}/tools`, token), 403, 'not_authorized')
    await world.control('POST', `/sessions/${id}/stop`, token)
  })

  test('rates the agent once, after it has joined', async () => {
    const agentId = await world.makeAgent()
    const { id, control_token: token } = (await world.launch(agentId, world.newRoom(), await world.makeCoupon(5))).body.data
    await running(id, token)
    const rate = (stars: number) => world.control('POST', `/agents/${agentId}/ratings`, token, { stars })
    assert.equal((await rate(4)).status, 201)
    assertError(await rate(5), 409, 'state_conflict')
    const ratings = await send({ baseUrl: world.api.origin }, 'GET', `/agents/${agentId}/ratings`, {
      key: world.tenant.publishableKey,
    })
    assert.deepEqual(ratings.body.data, { average: 4, count: 1 })
    await world.control('POST', `/sessions/${id}/stop`, token)
  })
})

test('a repeated rating with its Idempotency-Key gives the same bytes, and sessions do not share keys', async () => {
  const agentId = await world.makeAgent()
  const rate = (token: string) =>
    send({ baseUrl: world.api.origin }, 'POST', `/agents/${agentId}/ratings`, {
      headers: { authorization: `Bearer ${token}` },
      idempotencyKey: 'rate',
      body: { stars: 3 },
    })
  const sessions = []
  for (let i = 0; i < 2; i++) {
    const { id, control_token: token } = (await world.launch(agentId, world.newRoom(), await world.makeCoupon(5))).body.data
    await running(id, token)
    const [first, second] = [await rate(token), await rate(token)]
    assert.deepEqual([first.status, first.headers.get('idempotency-status')], [201, 'stored'], first.text)
    assert.deepEqual([second.status, second.headers.get('idempotency-status'), second.text], [201, 'replayed', first.text])
    sessions.push({ id, token })
  }
  const got = await send({ baseUrl: world.api.origin }, 'GET', `/agents/${agentId}/ratings`, { key: world.tenant.secretKey })
  assert.deepEqual(got.body.data, { average: 3, count: 2 })
  for (const { id, token } of sessions) await world.control('POST', `/sessions/${id}/stop`, token)
})

test('the room key and the coupon are sealed at rest, and erased when the session ends', async () => {
  const agentId = await world.makeAgent()
  const coupon = await world.makeCoupon(5)
  const room = world.newRoom()
  const { id, control_token: token } = (await world.launch(agentId, room, coupon)).body.data
  const row = async () => {
    const sql = 'select s::text as dump, mk_sealed, coupon_sealed from sessions s where id = $1'
    return (await world.api.ctx.db.pool.query<{ dump: string; mk_sealed: unknown; coupon_sealed: unknown }>(sql, [id])).rows[0]!
  }
  const { dump } = await row()
  for (const secret of [room.mk, coupon, token])
    for (const spelling of [secret, Buffer.from(secret).toString('hex')]) assert.ok(!dump.includes(spelling))
  await running(id, token)
  await world.control('POST', `/sessions/${id}/stop`, token)
  const after = await row()
  assert.deepEqual([after.mk_sealed, after.coupon_sealed], [null, null])
})

test('a session ends by itself when its time is up, and is paid', async () => {
  const agentId = await world.makeAgent()
  const coupon = await world.makeCoupon(5)
  const { id, control_token: token } = (await world.launch(agentId, world.newRoom(), coupon, { max_minutes: 1 })).body.data
  await running(id, token)
  await world.api.ctx.db.pool.query('update sessions set expires_at = now() where id = $1', [id])
  const { endOverdue } = await import('./session-transitions.ts')
  await endOverdue(world.api.ctx, 100)
  const { status, charged_credits: charged } = (await statusOf(id, token)).body.data
  assert.deepEqual([status, charged], ['expired', 5])
})

test('the ledger is consistent after all tests', async () => {
  assert.deepEqual((await auditLedger(world.api.ctx.db)).findings, [])
})
