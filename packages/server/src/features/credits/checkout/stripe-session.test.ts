import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { stripeSecretKey } from '#testing/fake-stripe.ts'
import { assertError, send } from '#testing/http.ts'
import { startStripeShop, type StripeShop } from '#testing/stripe-shop.ts'

let shop: StripeShop
before(async () => {
  shop = await startStripeShop()
})
beforeEach(() => shop.openTenant())
after(() => shop.close())

test('it is asked for with the key, the checkout’s id as idempotency key, the price, and the way back', async () => {
  const made = await shop.create()
  const { id, url } = made.body.data
  // A call that a slow machine does not answer in time is sent again, and is the same one for Stripe.
  assert.equal(shop.stripe.sessions.length, 1)
  const { headers, form } = shop.stripe.calls[0]!
  assert.equal(headers.authorization, `Bearer ${stripeSecretKey}`)
  assert.equal(headers['idempotency-key'], id)
  assert.equal(headers['x-stripe-client-telemetry'], undefined)
  assert.deepEqual(form, {
    mode: 'payment',
    client_reference_id: id,
    'metadata[checkout_id]': id,
    'payment_intent_data[metadata][checkout_id]': id,
    'line_items[0][quantity]': '1',
    'line_items[0][price_data][currency]': 'eur',
    'line_items[0][price_data][unit_amount]': '3000',
    'line_items[0][price_data][product_data][name]': '1,000 credits',
    'line_items[0][price_data][product_data][description]': 'A license key that mints a wallet',
    success_url: `https://shop.example/thanks?checkout_id=${id}`,
    cancel_url: 'https://shop.example/',
  })
  const [session] = shop.stripe.sessions
  assert.equal(url, session!['url'])
  assert.equal(Date.parse((await shop.look(id)).expires_at), Number(session!['expires_at']) * 1_000)
})

test('a lost answer: the repeat meets the same session, and a replay asks Stripe nothing', async () => {
  shop.stripe.mishaps.push('lost', 'lost')
  const lost = await shop.create({}, { idempotencyKey: 'order 1' })
  assert.equal(lost.status, 503)
  assert.equal(lost.body.error.code, 'unavailable')
  const made = await shop.create({}, { idempotencyKey: 'order 1' })
  assert.equal(made.status, 201, made.text)
  assert.equal(shop.stripe.sessions.length, 1)
  assert.equal(made.body.data.url, shop.stripe.sessions[0]!['url'])
  const asked = shop.stripe.calls.length
  assert.equal((await shop.create({}, { idempotencyKey: 'order 1' })).text, made.text)
  assert.equal(shop.stripe.calls.length, asked)
  assert.equal((await shop.query('select id from checkouts where tenant_id = $1', [shop.tenant.id])).length, 1)
})

test('after an error the key is free for another order', async () => {
  shop.stripe.mishaps.push('lost', 'lost')
  await shop.create({}, { idempotencyKey: 'order 1' })
  const made = await shop.create({ credits: 7 }, { idempotencyKey: 'order 1' })
  assert.equal(made.status, 201, made.text)
  assert.equal((await shop.look(made.body.data.id)).credits, 7)
})

test('one broken connection is not noticed', async () => {
  shop.stripe.mishaps.push('lost')
  assert.equal((await shop.create()).status, 201)
  assert.equal(shop.stripe.sessions.length, 1)
})

test('a request that waits for Stripe holds no database connection', async (t) => {
  shop.stripe.held = true
  t.after(() => (shop.stripe.held = false))
  const waiting = Array.from({ length: 30 }, (_, i) => shop.create({}, { idempotencyKey: `order ${i}` }))
  const { pool } = shop.api.ctx.db
  // A call that is not answered is sent again, so there may be more.
  const state = () => [shop.stripe.calls.length >= 30, pool.totalCount - pool.idleCount, pool.waitingCount]
  const deadline = Date.now() + 60_000
  while (state().join() !== 'true,0,0' && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 5))
  assert.deepEqual(state(), [true, 0, 0])
  shop.stripe.held = false
  // On a slow machine, the first ones may have waited too long until the last one called.
  for (const { status, text } of await Promise.all(waiting)) assert.ok(status === 201 || status === 503, text)
})

test('Stripe says nothing: the answer is 503 before a caller gives up', async () => {
  shop.stripe.mishaps.push('silent', 'silent')
  const begun = Date.now()
  const answer = await shop.create()
  assert.equal(answer.body.error.code, 'unavailable')
  assert.ok(Date.now() - begun < 15_000, `${Date.now() - begun} ms`)
})

test('an amount that Stripe does not take is the caller’s to change', async () => {
  const error = { type: 'invalid_request_error', code: 'amount_too_small', message: 'at least 50 cents' }
  shop.stripe.mishaps.push({ status: 400, error })
  const answer = await shop.create({ credits: 1 })
  assert.equal(answer.status, 400)
  assert.deepEqual(answer.body.error.details, [{ path: '/credits', message: 'cost less than a payment takes' }])
})

test('what Stripe has against this installation is not told to the caller', async () => {
  const error = { type: 'invalid_request_error', message: `Invalid API Key provided: ${stripeSecretKey}` }
  shop.stripe.mishaps.push({ status: 401, error })
  const answer = await shop.create()
  assert.equal(answer.status, 503)
  assert.doesNotMatch(answer.text, /sk_test|API Key/)
  assert.deepEqual(await shop.query('select id from checkouts where tenant_id = $1', [shop.tenant.id]), [])
})

test('there is no test page beside it', async () => {
  const { id } = await shop.sell()
  for (const method of ['GET', 'POST'])
    assert.equal((await send(shop.api, method, `/checkout/${id}/pay`)).body.error.code, 'not_found')
})

test('a checkout of a tenant that was suspended while Stripe answered is refused, and nothing can be paid', async (t) => {
  const { ctx, adminToken } = shop.api
  const { id } = shop.tenant
  const createPayment = ctx.payments!.createPayment.bind(ctx.payments)
  t.mock.method(ctx.payments!, 'createPayment', async (order: Parameters<typeof createPayment>[0]) => {
    const payment = await createPayment(order)
    const body = { status: 'suspended' }
    const done = await send(shop.api, 'POST', `/tenants/${id}/status`, { headers: { 'x-admin-token': adminToken }, body })
    assert.equal(done.status, 200, done.text)
    return payment
  })
  assertError(await shop.create(), 401, 'tenant_suspended')
  assert.deepEqual(await shop.query('select id from checkouts where tenant_id = $1', [id]), [])
})
