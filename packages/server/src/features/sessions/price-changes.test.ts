import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { createRemoteJWKSet, jwtVerify, SignJWT } from 'jose'
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

async function quoteFor(agentId: string, more: object = {}, key = world.tenant.publishableKey) {
  const got = await send(world.api, 'POST', '/quotes', { key, body: { agent_id: agentId, ...more } })
  assert.equal(got.status, 201, got.text)
  return got.body.data as { quote: string; price_credits: number; valid_until: string }
}

test('a launch with a quote is never dearer: it costs the quoted price, or the current one if that is lower', async () => {
  const agentId = await world.makeAgent({ price_credits: prices.priced })
  const coupon = await world.makeCoupon(1_000)
  const { quote, price_credits, valid_until } = await quoteFor(agentId)
  assert.equal(price_credits, 5)
  const lifeMs = Date.parse(valid_until) - Date.now()
  assert.ok(lifeMs > 14 * 60_000 && lifeMs <= 15 * 60_000)
  const costs = async (more: object) => (await launch(agentId, coupon, { quote, ...more })).body.data?.price_credits
  await setPrice(agentId, prices.raised)
  assert.equal(await costs({}), 5)
  assert.equal(await costs({ max_price_credits: 5 }), 5)
  assertPriceChanged(await launch(agentId, coupon, { quote, max_price_credits: 4 }), 5, 4)
  await setPrice(agentId, 2)
  assert.equal(await costs({}), 2)
})

test('any JOSE library verifies a quote, and a key of another use signs none', async () => {
  const agentId = await world.makeAgent({ price_credits: prices.priced, max_minutes: 30 })
  const { quote, valid_until } = await quoteFor(agentId, { max_minutes: 10 })
  const keys = createRemoteJWKSet(new URL(`${world.api.origin}/.well-known/jwks.json`))
  const { payload, protectedHeader } = await jwtVerify(quote, keys, { algorithms: ['ES256'], typ: 'quote+jwt' })
  const { iat, exp, ...claims } = payload
  const [iss, aud] = [world.api.origin, world.tenant.id]
  const metered = { credits_per_1k_tokens: 0, credits_per_tool_call: 0 }
  assert.deepEqual(claims, { iss, aud, sub: agentId, price: 5, max_minutes: 10, ...metered })
  assert.deepEqual([exp! - iat!, exp! * 1_000], [900, Date.parse(valid_until)])
  const launched = await launch(agentId, await world.makeCoupon(5), { quote })
  const { created_at, expires_at } = launched.body.data
  assert.ok(Date.parse(expires_at) - Date.parse(created_at) < 11 * 60_000, 'it lasts as long as was quoted')

  const coupon = await world.makeCoupon(5)
  const other = await world.api.makeTenant()
  const forge = async (purpose: 'receipts' | 'quotes', typ: string, change: object = {}) => {
    const { kid, privateKey } = await world.api.ctx.signingKeys[purpose].current()
    return new SignJWT({ ...payload, ...change })
      .setProtectedHeader({ ...protectedHeader, alg: 'ES256', typ, kid })
      .sign(privateKey)
  }
  const wrong: [string, string, string][] = [
    ['a quote for another agent', (await quoteFor(await world.makeAgent())).quote, 'not for this launch'],
    ['a quote for another tenant', (await quoteFor(agentId, {}, other.publishableKey)).quote, 'not for this launch'],
    ['a quote that has expired', await forge('quotes', 'quote+jwt', { exp: iat! - 1 }), 'has expired'],
    ['a quote by the key of receipts', await forge('receipts', 'quote+jwt'), 'not in use'],
    ['another token by the key of quotes', await forge('quotes', 'receipt+jwt'), 'not for this launch'],
    ['a changed quote', quote.replace(/.{10}$/, 'AAAAAAAAAA'), 'no quote'],
    ['words', 'five credits', 'no quote'],
  ]
  for (const [name, text, says] of wrong) {
    const got = await launch(agentId, coupon, { quote: text })
    assert.deepEqual([got.status, got.body.error?.details?.[0]?.path], [400, '/quote'], name)
    assert.match(got.body.error.message, new RegExp(says), name)
  }
  const longer = await launch(agentId, coupon, { quote, max_minutes: 11 })
  assert.deepEqual([longer.status, longer.body.error.details[0].path], [400, '/max_minutes'])
})
