import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { stripeEvent } from '#testing/fake-stripe.ts'
import { send } from '#testing/http.ts'
import { chargeOf, startStripeShop, stripeEvents, type StripeShop } from '#testing/stripe-shop.ts'
import { auditLedger } from '../ledger/audit-store.ts'

let shop: StripeShop
before(async () => {
  shop = await startStripeShop()
})
beforeEach(() => shop.openTenant())
after(() => shop.close())

test('a full refund voids a license that is not redeemed, once, however often it is reported', async () => {
  const { id, payment, license } = await shop.sellPaid()
  for (let i = 0; i < 3; i++) await shop.giveBack('refund', payment, 3_000)
  assert.deepEqual(await shop.balances(), {})
  assert.equal((await shop.redeem(license)).body.error.code, 'already_spent')
  assert.equal((await shop.look(id)).license_key, undefined)
  assert.deepEqual(await shop.receipts(), [`refund 1000 ${id}`, `checkout 1000 ${id}`])
  assert.deepEqual(await shop.events('checkout.refunded'), [{ checkout_id: id, reason: 'refund', taken: 1_000, lost: 0 }])
})

test('after the redemption the wallet gives what it has left, and the rest is a loss; nothing is below zero', async () => {
  const { id, payment, license } = await shop.sellPaid()
  const wallet = (await shop.redeem(license)).body.data.wallet_code
  const { body } = await send(shop.api, 'POST', '/wallets/grant', {
    key: shop.tenant.secretKey,
    idempotencyKey: randomUUID(),
    body: { amount: 400, wallet_code: wallet },
  })
  await shop.giveBack('dispute', payment, 3_000)
  assert.deepEqual(await shop.balances(), { coupon: 400, loss: 400 })
  const [loss, refund] = (await shop.receipts()).toSorted().filter((text) => /^(?:loss|refund)/.test(text))
  assert.deepEqual([loss, refund], [`loss 400 ${id}`, `refund 600 ${id}`])
  assert.deepEqual(await shop.events('checkout.refunded'), [{ checkout_id: id, reason: 'dispute', taken: 600, lost: 400 }])
  const lookup = { key: shop.tenant.publishableKey, body: { wallet_code: body.data.coupon } }
  assert.equal((await send(shop.api, 'POST', '/wallets/lookup', lookup)).body.data.balance, 400)
})

test('parts of a payment take back their part of the credits; refund and dispute together take no more than all', async () => {
  const { payment, license } = await shop.sellPaid()
  await shop.giveBack('refund', payment, 1)
  await shop.giveBack('refund', payment, 1_500)
  // An older report that comes late.
  await shop.giveBack('refund', payment, 900)
  assert.deepEqual(await shop.balances(), { license: 500 })
  assert.equal((await shop.redeem(license)).body.data.balance, 500)
  await shop.giveBack('dispute', payment, 3_000)
  assert.deepEqual(await shop.balances(), {})
  const amounts = (await shop.events('checkout.refunded')).map(({ taken, lost }) => [taken, lost])
  assert.deepEqual(amounts, [
    [500, 0],
    [500, 0],
  ])
})

test('credits that were bought for the issuer’s balance are taken from it', async () => {
  const { payment } = await shop.sellPaid('prefund')
  const { status } = await send(shop.api, 'POST', '/wallets/grant', {
    key: shop.tenant.secretKey,
    idempotencyKey: randomUUID(),
    body: { amount: 999 },
  })
  assert.equal(status, 201)
  await shop.giveBack('refund', payment, 3_000)
  assert.deepEqual(await shop.balances(), { coupon: 999, loss: 999 })
})

test('reported at once many times, and with the redemption, it takes exactly its credits', async () => {
  const { payment, license } = await shop.sellPaid()
  const reports = Array.from({ length: 8 }, (_, i) => shop.giveBack(i % 2 ? 'refund' : 'dispute', payment, 3_000))
  const [redeemed] = await Promise.all([shop.redeem(license), ...reports])
  assert.ok([201, 409, 503].includes(redeemed.status), redeemed.text)
  assert.deepEqual(await shop.balances(), {})
})

test('a refund that is reported before its payment is reported again, and takes the credits then', async () => {
  const { id, session } = await shop.sell({ purpose: 'license_key' })
  const payment = `pi_${randomUUID()}`
  const refund = (checkout: string) =>
    shop.deliver(
      stripeEvent('charge.refunded', chargeOf(payment), {
        amount: 3_000,
        amount_refunded: 3_000,
        metadata: { checkout_id: checkout },
      }),
    )
  const early = await refund(id)
  assert.deepEqual([early.status, early.body.error?.code], [503, 'unavailable'])
  assert.equal((await shop.deliver(stripeEvents.paid({ ...session, payment_intent: payment }))).status, 200)
  assert.deepEqual(await shop.balances(), { license: 1_000 })
  assert.equal((await refund(id)).status, 200)
  assert.deepEqual(await shop.balances(), {})
  // Of other software, also if it names its checkouts in the same way.
  for (const other of [`${id.slice(0, -2)}zz`, 'cart 7']) assert.equal((await refund(other)).status, 200)
})

test('a dispute that is reported before its payment is reported again, and takes the credits then', async () => {
  const { id, session } = await shop.sell({ purpose: 'license_key' })
  const payment = `pi_${randomUUID()}`
  // The buyer has paid, and Stripe's report of it has not arrived.
  session['payment_intent'] = payment
  const amounts = { id: 'dp_1', amount: 3_000, status: 'needs_response' }
  const dispute = stripeEvent('charge.dispute.created', chargeOf(payment), amounts)
  const early = await shop.deliver(dispute)
  assert.deepEqual([early.status, early.body.error?.code], [503, 'unavailable'])
  assert.equal((await shop.deliver(stripeEvents.paid(session))).status, 200)
  assert.equal((await shop.deliver(dispute)).status, 200)
  assert.deepEqual(await shop.balances(), {})
  assert.equal((await shop.look(id)).license_key, undefined)
})

test('Stripe is asked whose a dispute is, again if it does not answer; of other software, a dispute does nothing', async () => {
  const { session } = await shop.sell()
  const of = (payment: string) =>
    shop.deliver(stripeEvent('charge.dispute.created', chargeOf(payment), { id: 'dp_1', amount: 3_000, status: 'lost' }))
  shop.stripe.listMishap = { status: 500, error: { type: 'api_error' } }
  const unanswered = await of('pi_other')
  assert.deepEqual([unanswered.status, unanswered.body.error?.code], [503, 'unavailable'])
  shop.stripe.listMishap = { status: 404, error: { type: 'invalid_request_error', code: 'resource_missing' } }
  assert.equal((await of('pi_of_connected_account')).status, 200)
  shop.stripe.listMishap = undefined
  assert.equal((await of('pi_other')).status, 200)
  for (const reference of ['', 'cart 7', `${session.client_reference_id.slice(0, -2)}zz`]) {
    shop.stripe.sessions.push({ ...session, client_reference_id: reference, payment_intent: `pi_${reference}` })
    assert.equal((await of(`pi_${reference}`)).status, 200)
  }
})

test('a refund that is reported while its payment is recorded takes the credits, or is reported again', async (t) => {
  const { id, session } = await shop.sell({ purpose: 'license_key' })
  const payment = `pi_${randomUUID()}`
  const { db } = shop.api.ctx
  const query = db.query.bind(db)
  let reads = 0
  t.mock.method(db, 'query', async (asked: Parameters<typeof query>[0], values: unknown[]) => {
    const rows = await query(asked, values)
    // Between the first and the second read of the refund.
    if (asked.name.startsWith('checkouts-find-by') && ++reads === 1)
      await shop.tell('paid', { ...session, payment_intent: payment })
    return rows
  })
  const amounts = { amount: 3_000, amount_refunded: 3_000, metadata: { checkout_id: id } }
  const { status } = await shop.deliver(stripeEvent('charge.refunded', chargeOf(payment), amounts))
  assert.ok(reads > 1)
  assert.deepEqual([status, await shop.balances()], [200, {}])
})

test('an inquiry takes nothing, and does once it is a dispute', async () => {
  const { payment } = await shop.sellPaid()
  const dispute = (type: string, status: string) => shop.deliver(stripeEvent(type, chargeOf(payment), { amount: 3_000, status }))
  assert.equal((await dispute('charge.dispute.created', 'warning_needs_response')).status, 200)
  assert.deepEqual(await shop.balances(), { license: 1_000 })
  for (let i = 0; i < 2; i++) assert.equal((await dispute('charge.dispute.funds_withdrawn', 'needs_response')).status, 200)
  assert.deepEqual(await shop.balances(), {})
})

test('a payment that is not ours moves nothing', async () => {
  await shop.sellPaid()
  await shop.giveBack('refund', `pi_${randomUUID()}`, 3_000)
  assert.deepEqual(await shop.balances(), { license: 1_000 })
})

test('after all this the books are right, and lost credits are not in circulation', async () => {
  const { findings, credits } = await auditLedger(shop.api.ctx.db)
  assert.deepEqual(findings, [])
  const [row] = await shop.query(`select sum(balance)::int as owned from ledger_accounts where kind not in ('platform', 'loss')`)
  assert.equal(credits, row!['owned'])
})
