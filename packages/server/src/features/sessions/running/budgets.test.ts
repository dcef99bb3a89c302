import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { decodeJwt } from 'jose'
import { send } from '#testing/http.ts'
import { startProviderServer, type ProviderServer } from '#testing/provider-server.ts'
import { pullEvents } from '#testing/pull-events.ts'
import { eventually, startSessionWorld, type Room, type SessionWorld } from '#testing/session-world.ts'
import { auditLedger } from '#features/credits/ledger/audit-store.ts'
import { endOverdue } from '../session-transitions.ts'

let world: SessionWorld
let provider: ProviderServer
let tool: Server
let toolCalls = 0

before(async () => {
  provider = await startProviderServer()
  world = await startSessionWorld()
  tool = createServer((_, res) => {
    toolCalls++
    res.writeHead(200, { 'content-type': 'application/json' }).end('{"lamp":"lit"}')
  })
  await new Promise<void>((resolve) => tool.listen(0, '127.0.0.1', resolve))
  const body = { openai_compatible: { url: provider.compatibleUrl, key: 'sk-canary-12345' } }
  await send(world.api, 'PUT', '/tenant/provider-keys', { key: world.tenant.secretKey, body })
})

after(async () => {
  await world.close()
  await provider.close()
  tool.close()
})

interface Launched {
  id: string
  token: string
  room: Room
  coupon: string
}

/** An answer of the provider has 11 + 7 tokens. */
async function launch({ agent = {}, balance = 50, budget = 20 } = {}): Promise<Launched> {
  const agentId = await world.makeAgent({ model: { provider: 'openai_compatible', id: 'lamp-1' }, ...agent })
  const room = world.newRoom()
  const coupon = await world.makeCoupon(balance)
  const got = await world.launch(agentId, room, coupon, { budget_credits: budget })
  assert.equal(got.status, 201, got.text)
  assert.equal(got.body.data.budget_credits, budget)
  return { id: got.body.data.id, token: got.body.data.control_token, room, coupon }
}

const statusOf = async ({ id, token }: Launched) => (await world.control('GET', `/sessions/${id}`, token)).body.data
const untilStatus = (session: Launched, status: string) =>
  eventually(async () => {
    const data = await statusOf(session)
    return data.status === status && data
  }, `it is ${status}`)
const said = async ({ room }: Launched) =>
  (await world.entries(room)).filter(({ author }) => author.kind === 'agent').map(({ message }) => message.text)
const untilSaid = (session: Launched, text: RegExp, times = 1) =>
  eventually(async () => (await said(session)).filter((line) => text.test(line)).length >= times, `it says ${text}`)
const topUp = (session: Launched, coupon: string, credits: number, idempotencyKey: string = randomUUID()) =>
  send(world.api, 'POST', `/sessions/${session.id}/top-up`, {
    headers: { authorization: `Bearer ${session.token}`, 'idempotency-key': idempotencyKey },
    body: { coupon, budget_credits: credits },
  })
const stop = ({ id, token }: Launched) => world.control('POST', `/sessions/${id}/stop`, token)
const balanceOf = async (code: string) => {
  const { balance, held } = await world.balance(code)
  return [balance, held]
}

async function receiptsOf(code: string): Promise<Record<string, unknown>[]> {
  const { key, body } = { key: world.tenant.publishableKey, body: { wallet_code: code } }
  const got = await send(world.api, 'POST', '/receipts/lookup', { key, body })
  return got.body.data.map(({ receipt }: { receipt: string }) => decodeJwt(receipt))
}

const lookUp = () => ({
  name: 'look_up',
  description: 'Looks up.',
  parameters: { type: 'object', properties: {} },
  url: `http://127.0.0.1:${(tool.address() as AddressInfo).port}/`,
})

test('a budget pays tokens and is held beside the price; the rest is released', async () => {
  provider.otherwise = () => ({ text: ['Good evening.'] })
  const session = await launch({ agent: { credits_per_1k_tokens: 100 } })
  assert.deepEqual(await balanceOf(session.coupon), [25, 25])
  await world.say(session.room, 'Hello')
  await untilSaid(session, /Good evening/)
  const { status, used_credits: used, used_tokens: tokens, used_tool_calls: calls } = await statusOf(session)
  assert.deepEqual([status, used, tokens, calls], ['running', 2, 18, 0])
  await stop(session)
  assert.equal((await statusOf(session)).charged_credits, 7)
  assert.deepEqual(await balanceOf(session.coupon), [43, 0])
  const receipts = await receiptsOf(session.coupon)
  const shown = receipts.map(({ kind, sub, price, charged, budget, used, tokens, tool_calls }) => {
    assert.equal(sub, session.id)
    return { kind, price, charged, budget, used, tokens, tool_calls }
  })
  const use = { budget: 20, used: 2, tokens: 18, tool_calls: 0 }
  assert.deepEqual(
    shown.toSorted((a, b) => String(a.kind).localeCompare(String(b.kind))),
    [
      { kind: 'budget', price: 20, charged: 2, ...use },
      { kind: 'session', price: 5, charged: 5, ...use },
    ],
  )
})

test('a runaway tool loop stops within one step of its budget, tells the room and the tenant, and a top-up resumes it', async () => {
  provider.otherwise = () => ({ calls: [{ name: 'look_up', args: '{}' }] })
  const session = await launch({ agent: { credits_per_tool_call: 4, tools: [lookUp()] }, budget: 10 })
  toolCalls = 0
  const askedBefore = provider.requests.length
  await world.say(session.room, 'Look it up')
  const paused = await untilStatus(session, 'paused')
  assert.deepEqual([paused.used_credits, paused.used_tool_calls, toolCalls], [8, 2, 2], 'the third call is not covered')
  await untilSaid(session, /I pause here: the budget of 10 credits/)
  assert.equal(provider.requests.length - askedBefore, 3, 'no model is asked after that')
  const listed = await send(world.api, 'GET', '/sessions?status=paused', { key: world.tenant.secretKey })
  assert.deepEqual(
    listed.body.data.map(({ id }: { id: string }) => id),
    [session.id],
  )
  const events = await pullEvents(world.api, world.tenant)
  const told = events.filter(({ type, data }) => type === 'session.paused' && data['session_id'] === session.id)
  assert.deepEqual(
    told.map(({ data }) => [data['budget_credits'], data['used_credits']]),
    [[10, 8]],
  )

  provider.otherwise = () => ({ text: ['It is lit.'] })
  const other = await world.makeCoupon(30)
  const key = randomUUID()
  const topped = await topUp(session, other, 7, key)
  assert.deepEqual([topped.status, topped.body.data.status, topped.body.data.budget_credits], [200, 'running', 17], topped.text)
  assert.deepEqual((await topUp(session, other, 7, key)).body.data, topped.body.data)
  await untilSaid(session, /It is lit/)
  assert.deepEqual(await balanceOf(other), [23, 7], 'a repeat holds nothing twice')
  await stop(session)
  assert.equal((await statusOf(session)).charged_credits, 5 + 8)
  assert.deepEqual(
    [await balanceOf(session.coupon), await balanceOf(other)],
    [
      [37, 0],
      [30, 0],
    ],
  )
})

test('a refused tool call is counted where the answer of its commit is lost and a top-up comes before the retry', async (t) => {
  provider.otherwise = () => ({ text: ['It is lit.'] })
  const session = await launch({ agent: { credits_per_tool_call: 4, tools: [lookUp()] }, budget: 10 })
  const other = await world.makeCoupon(30)
  toolCalls = 0
  const { db } = world.api.ctx
  const lane = db.lane.bind(db)
  let isLost = false
  t.mock.method(db, 'lane', (key: string): ReturnType<typeof lane> => ({
    transaction: async (run) => {
      const result = await lane(key).transaction(run)
      if (isLost || key !== session.id || (await statusOf(session)).status !== 'paused') return result
      isLost = true
      assert.equal((await topUp(session, other, 7)).status, 200)
      throw Object.assign(new Error('the connection was cut'), { code: '08006' })
    },
  }))
  provider.script(...Array.from({ length: 3 }, () => ({ calls: [{ name: 'look_up', args: '{}' }] })))
  await world.say(session.room, 'Look it up')
  await untilSaid(session, /It is lit/)
  assert.ok(isLost)
  const { status, used_tool_calls: counted, used_credits: used } = await statusOf(session)
  assert.deepEqual([status, toolCalls, counted, used], ['running', 3, 3, 12])
  await stop(session)
})

test('an answer that exceeds the budget is given, and a top-up pays for the rest of it', async () => {
  provider.otherwise = () => ({ text: ['A long story.'] })
  const session = await launch({ agent: { credits_per_1k_tokens: 1_000 }, budget: 10 })
  await world.say(session.room, 'Tell me')
  const paused = await untilStatus(session, 'paused')
  assert.equal(paused.used_credits, 18)
  await untilSaid(session, /A long story/)
  const other = await world.makeCoupon(100)
  assert.equal((await topUp(session, other, 8)).body.error.details[0].path, '/budget_credits')
  const short = await topUp(session, await world.makeCoupon(5), 9)
  assert.equal(short.body.error.code, 'insufficient_credit')
  assert.equal(short.body.error.message, 'The top-up needs 9 credits, and the coupon has less. Nothing was charged.')
  assert.equal((await topUp(session, other, 9)).status, 200)
  await world.say(session.room, 'And then?')
  await untilSaid(session, /A long story/, 2)
  await stop(session)
  assert.equal((await statusOf(session)).charged_credits, 5 + 19, 'never more than was held')
  assert.deepEqual(await balanceOf(other), [91, 0])
  const refused = await topUp(session, other, 9)
  assert.equal(refused.body.error.code, 'state_conflict')
})

test('a paused session keeps its room, can be stopped, and settles when its time is up', async () => {
  const session = await launch({ agent: { model: { provider: 'echo', id: 'echo' }, credits_per_1k_tokens: 1_000 }, budget: 1 })
  await world.say(session.room, 'Hello')
  await untilStatus(session, 'paused')
  await untilSaid(session, /I pause here/)
  const { pool } = world.api.ctx.db
  const isParked = async () => {
    const text = `select lease_owner is null and lease_until = 'infinity' as parked from sessions where id = $1`
    return (await pool.query<{ parked: boolean }>(text, [session.id])).rows[0]!.parked
  }
  await eventually(isParked, 'no worker has it')
  await world.say(session.room, 'Are you there?')
  // As if the worker had died before it told the room: another one does, and the room stores the same line once.
  await pool.query(`update sessions set lease_owner = 'dead', lease_until = now() where id = $1`, [session.id])
  await eventually(isParked, 'another worker has parked it')
  await pool.query(`update sessions set expires_at = now() where id = $1`, [session.id])
  await endOverdue(world.api.ctx, 10)
  const { status, charged_credits: charged } = await statusOf(session)
  assert.deepEqual([status, charged], ['expired', 6])
  assert.deepEqual(await balanceOf(session.coupon), [44, 0])
  assert.equal((await said(session)).length, 2, 'it answered nothing while it was paused')
})

test('a budget needs an agent that meters its use, and credits that cover it beside the price', async () => {
  const plain = await world.makeAgent()
  const refused = await world.launch(plain, world.newRoom(), await world.makeCoupon(50), { budget_credits: 5 })
  assert.deepEqual([refused.body.error.code, refused.body.error.details[0].path], ['invalid_request', '/budget_credits'])
  const metered = await world.makeAgent({ credits_per_1k_tokens: 1 })
  const coupon = await world.makeCoupon(9)
  const short = await world.launch(metered, world.newRoom(), coupon, { budget_credits: 5 })
  assert.equal(short.body.error.code, 'insufficient_credit')
  assert.deepEqual(await balanceOf(coupon), [9, 0])
  const { id, control_token: token } = (await world.launch(metered, world.newRoom(), coupon)).body.data
  const session = { id, token, room: world.newRoom(), coupon }
  const { used_tokens: tokens, budget_credits: budget } = await statusOf(session)
  assert.deepEqual([tokens, budget], [undefined, undefined], 'without a budget nothing is counted')
  assert.equal((await topUp(session, await world.makeCoupon(5), 5)).body.error.code, 'state_conflict')
  await stop(session)
})

test('a pending launch keeps its budget for the session that its summon key starts', async () => {
  const agentId = await world.makeAgent({ credits_per_1k_tokens: 1 })
  const coupon = await world.makeCoupon(50)
  const armed = await world.launch(agentId, world.newRoom(), coupon, { budget_credits: 7, arm: true })
  assert.deepEqual(await balanceOf(coupon), [50, 0])
  const root = { baseUrl: world.api.origin }
  const got = await send(root, 'POST', '/sessions/summon', { body: { summon_key: armed.body.data.summon_key } })
  assert.equal(got.body.data.budget_credits, 7, got.text)
  assert.deepEqual(await balanceOf(coupon), [38, 12])
})

test('a quote also promises what use costs: a launch that names it is metered at the lower prices', async () => {
  provider.otherwise = () => ({ text: ['Good evening.'] })
  const { secretKey: key } = world.tenant
  const agentId = await world.makeAgent({ model: { provider: 'openai_compatible', id: 'lamp-1' }, credits_per_1k_tokens: 100 })
  const { quote } = (await send(world.api, 'POST', '/quotes', { key, body: { agent_id: agentId } })).body.data
  const root = { baseUrl: world.api.origin }
  const priced = await send(root, 'PATCH', `/agents/${agentId}`, { key, body: { credits_per_1k_tokens: 500 } })
  assert.equal(priced.status, 200, priced.text)
  const usedBy = async (more: object) => {
    const room = world.newRoom()
    const coupon = await world.makeCoupon(50)
    const { id, control_token: token } = (await world.launch(agentId, room, coupon, { budget_credits: 20, ...more })).body.data
    const session = { id, token, room, coupon }
    await world.say(room, 'Hello')
    await untilSaid(session, /Good evening/)
    const { used_credits: used } = await statusOf(session)
    await stop(session)
    return used
  }
  assert.equal(await usedBy({ quote }), 2)
  assert.equal(await usedBy({}), 9)
})

test('the ledger is consistent after all tests', async () => {
  assert.deepEqual((await auditLedger(world.api.ctx.db)).findings, [])
})
