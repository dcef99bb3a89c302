import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { send, type Got } from '#testing/http.ts'
import { startSessionWorld, type Room, type SessionWorld } from '#testing/session-world.ts'

let world: SessionWorld
before(async () => {
  world = await startSessionWorld({ runner: false })
})
after(() => world.close())

async function setPrice(agentId: string, price: number): Promise<void> {
  const root = { baseUrl: world.api.origin }
  const got = await send(root, 'PATCH', `/agents/${agentId}`, { key: world.tenant.secretKey, body: { price_credits: price } })
  assert.equal(got.status, 200, got.text)
}

/** Moves the raise that many minutes into the past. */
async function letPass(agentId: string, minutes: number): Promise<void> {
  const text = 'update agents set price_raised_at = price_raised_at - make_interval(mins => $2) where id = $1'
  await world.api.ctx.db.pool.query(text, [agentId, minutes])
}

function assertPriceChanged(got: Got, now: number, agreed: number): void {
  assert.deepEqual([got.status, got.body?.error?.code], [409, 'price_changed'], got.text)
  const [detail] = got.body.error.details
  assert.deepEqual([detail.price_credits, detail.agreed_price_credits], [now, agreed])
}

const prices = { priced: 5, raised: 900 }
const launch = (agentId: string, coupon: string, more: object = {}, room: Room = world.newRoom()) =>
  world.launch(agentId, room, coupon, more)

test('a launch costs at most its max_price_credits: at a higher price nothing is held and the error names both prices', async () => {
  const agentId = await world.makeAgent({ price_credits: prices.priced })
  const coupon = await world.makeCoupon(1_000)
  assertPriceChanged(await launch(agentId, coupon, { max_price_credits: 4 }), 5, 4)
  assertPriceChanged(await launch(agentId, coupon, { max_price_credits: 0, arm: true }), 5, 0)
  assert.deepEqual(await world.balance(coupon), { balance: 1_000, held: 0, currency: 'credits' })
  for (const limit of [5, 6]) {
    const got = await launch(agentId, coupon, { max_price_credits: limit })
    assert.deepEqual([got.status, got.body.data?.price_credits], [201, 5], got.text)
  }
  await setPrice(agentId, prices.raised)
  assertPriceChanged(await launch(agentId, coupon, { max_price_credits: 5 }), 900, 5)
  assert.equal((await launch(agentId, coupon, { max_price_credits: 900 })).body.data?.price_credits, 900)
})

test('without max_price_credits, a price that was raised in the last ten minutes is neither charged nor armed', async () => {
  const agentId = await world.makeAgent({ price_credits: prices.priced })
  const coupon = await world.makeCoupon(1_000)
  await setPrice(agentId, prices.raised)
  assertPriceChanged(await launch(agentId, coupon), 900, 5)
  assertPriceChanged(await launch(agentId, coupon, { arm: true }), 900, 5)
  await letPass(agentId, 9)
  assertPriceChanged(await launch(agentId, coupon), 900, 5)
  await letPass(agentId, 1)
  const got = await launch(agentId, coupon)
  assert.deepEqual([got.status, got.body.data?.price_credits], [201, 900], got.text)
})

test('of several raises the lowest price counts; a raise that is taken back does not', async () => {
  const agentId = await world.makeAgent({ price_credits: prices.priced })
  const coupon = await world.makeCoupon(1_000)
  await setPrice(agentId, 6)
  await letPass(agentId, 9)
  await setPrice(agentId, 7)
  assertPriceChanged(await launch(agentId, coupon), 7, 5)
  await letPass(agentId, 11)
  await setPrice(agentId, 8)
  assertPriceChanged(await launch(agentId, coupon), 8, 7)
  await setPrice(agentId, 7)
  assert.equal((await launch(agentId, coupon)).status, 201)
  // A low price of a moment counts too, because a buyer may have seen it.
  await setPrice(agentId, 1)
  await setPrice(agentId, 7)
  assertPriceChanged(await launch(agentId, coupon), 7, 1)
})

test('a repeated launch gives the same bytes, whatever the price is by then; a refused launch leaves its key free', async () => {
  const agentId = await world.makeAgent({ price_credits: prices.priced })
  const coupon = await world.makeCoupon(1_000)
  const idempotencyKey = randomUUID()
  const body = { agent_id: agentId, room: world.newRoom(), coupon, max_price_credits: 5 }
  const send5 = (more: object = {}) =>
    send(world.api, 'POST', '/sessions', { key: world.tenant.secretKey, idempotencyKey, body: { ...body, ...more } })
  await setPrice(agentId, 6)
  assertPriceChanged(await send5(), 6, 5)
  const first = await send5({ max_price_credits: 6 })
  assert.equal(first.status, 201, first.text)
  await setPrice(agentId, prices.raised)
  const repeated = await send5({ max_price_credits: 6 })
  assert.deepEqual([repeated.status, repeated.text], [201, first.text])
})

test('an agent that is already in the room costs nothing, whatever its price', async () => {
  const agentId = await world.makeAgent({ price_credits: prices.priced })
  const coupon = await world.makeCoupon(5)
  const room = world.newRoom()
  assert.equal((await launch(agentId, coupon, {}, room)).status, 201)
  await setPrice(agentId, prices.raised)
  const again = await launch(agentId, coupon, { max_price_credits: 5 }, room)
  assert.deepEqual([again.status, again.body.data?.already_present], [200, true], again.text)
})
