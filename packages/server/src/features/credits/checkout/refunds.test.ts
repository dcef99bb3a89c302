import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { decodeJwt } from 'jose'
import { stripeEvent, type StripeSession } from '#testing/fake-stripe.ts'
import { send } from '#testing/http.ts'
import { pullEvents } from '#testing/pull-events.ts'
import { startStripeShop, stripeEvents, type StripeShop } from '#testing/stripe-shop.ts'
import { auditLedger } from '../ledger/audit-store.ts'

let shop: StripeShop
before(async () => {
  shop = await startStripeShop()
})
beforeEach(() => shop.openTenant())
after(() => shop.close())

/** A paid checkout of 1,000 credits for 3,000 cents, and the id of its payment. */
async function sellPaid(purpose = 'license_key') {
  const { id, session } = await shop.sell({ purpose })
  const payment = `pi_${randomUUID()}`
  const paid: StripeSession = { ...session, payment_intent: payment }
  assert.equal((await shop.deliver(stripeEvents.paid(paid))).status, 200)
  return { id, payment, license: (await shop.look(id)).license_key as string }
}

const chargeOf = (payment: string) => ({ id: 'ch_1', client_reference_id: '', payment_status: '', payment_intent: payment })

async function giveBack(type: 'refund' | 'dispute', payment: string, amount: number): Promise<void> {
  const charge = chargeOf(payment)
  const payload =
    type === 'refund'
      ? stripeEvent('charge.refunded', charge, { amount: 3_000, amount_refunded: amount })
      : stripeEvent('charge.dispute.created', charge, { amount, status: 'needs_response' })
  assert.equal((await shop.deliver(payload)).status, 200)
}

const redeem = (license: string) =>
  send(shop.api, 'POST', '/wallets/redeem', { key: shop.tenant.publishableKey, body: { license_key: license } })

/** Balances by kind of account. */
async function balances(): Promise<Record<string, number>> {
  const rows = await shop.query(
    'select kind, sum(balance)::int as balance from ledger_accounts where tenant_id = $1 and balance > 0 group by kind',
    [shop.tenant.id],
  )
  return Object.fromEntries(rows.map(({ kind, balance }) => [kind, balance]))
}

/** Kind, amount and subject of each receipt, the newest first. */
async function receipts() {
  const got = await send(shop.api, 'GET', '/receipts', { key: shop.tenant.secretKey })
  const listed = got.body.data as { kind: string; amount: number; receipt: string }[]
  return listed.map(({ kind, amount, receipt }) => `${kind} ${amount} ${decodeJwt(receipt).sub}`)
}

const refunded = async () =>
  (await pullEvents(shop.api, shop.tenant)).filter(({ type }) => type === 'checkout.refunded').map(({ data }) => data)

test('a full refund voids a license that is not redeemed, once, however often it is reported', async () => {
  const { id, payment, license } = await sellPaid()
  for (let i = 0; i < 3; i++) await giveBack('refund', payment, 3_000)
  assert.deepEqual(await balances(), {})
  assert.equal((await redeem(license)).body.error.code, 'already_spent')
  assert.equal((await shop.look(id)).license_key, undefined)
  assert.deepEqual(await receipts(), [`refund 1000 ${id}`, `checkout 1000 ${id}`])
  assert.deepEqual(await refunded(), [{ checkout_id: id, reason: 'refund', taken: 1_000, lost: 0 }])
})

test('after the redemption the wallet gives what it has left, and the rest is a loss; nothing is below zero', async () => {
  const { id, payment, license } = await sellPaid()
  const wallet = (await redeem(license)).body.data.wallet_code
  const { body } = await send(shop.api, 'POST', '/wallets/grant', {
    key: shop.tenant.secretKey,
    idempotencyKey: randomUUID(),
    body: { amount: 400, wallet_code: wallet },
  })
  await giveBack('dispute', payment, 3_000)
  assert.deepEqual(await balances(), { coupon: 400, loss: 400 })
  const [loss, refund] = (await receipts()).toSorted().filter((text) => /^(?:loss|refund)/.test(text))
  assert.deepEqual([loss, refund], [`loss 400 ${id}`, `refund 600 ${id}`])
  assert.deepEqual(await refunded(), [{ checkout_id: id, reason: 'dispute', taken: 600, lost: 400 }])
  const lookup = { key: shop.tenant.publishableKey, body: { wallet_code: body.data.coupon } }
  assert.equal((await send(shop.api, 'POST', '/wallets/lookup', lookup)).body.data.balance, 400)
})

test('parts of a payment take back their part of the credits; refund and dispute together take no more than all', async () => {
  const { payment, license } = await sellPaid()
  await giveBack('refund', payment, 1)
  await giveBack('refund', payment, 1_500)
  // An older report that comes late.
  await giveBack('refund', payment, 900)
  assert.deepEqual(await balances(), { license: 500 })
  assert.equal((await redeem(license)).body.data.balance, 500)
  await giveBack('dispute', payment, 3_000)
  assert.deepEqual(await balances(), {})
  const amounts = (await refunded()).map(({ taken, lost }) => [taken, lost])
  assert.deepEqual(amounts, [
    [500, 0],
    [500, 0],
  ])
})

test('credits that were bought for the issuer’s balance are taken from it', async () => {
  const { payment } = await sellPaid('prefund')
  const { status } = await send(shop.api, 'POST', '/wallets/grant', {
    key: shop.tenant.secretKey,
    idempotencyKey: randomUUID(),
    body: { amount: 999 },
  })
  assert.equal(status, 201)
  await giveBack('refund', payment, 3_000)
  assert.deepEqual(await balances(), { coupon: 999, loss: 999 })
})

test('reported at once many times, and with the redemption, it takes exactly its credits', async () => {
  const { payment, license } = await sellPaid()
  const reports = Array.from({ length: 8 }, (_, i) => giveBack(i % 2 ? 'refund' : 'dispute', payment, 3_000))
  const [redeemed] = await Promise.all([redeem(license), ...reports])
  assert.ok([201, 409, 503].includes(redeemed.status), redeemed.text)
  assert.deepEqual(await balances(), {})
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
  assert.deepEqual(await balances(), { license: 1_000 })
  assert.equal((await refund(id)).status, 200)
  assert.deepEqual(await balances(), {})
  // Of other software, also if it names its checkouts in the same way.
  for (const other of [`${id.slice(0, -2)}zz`, 'cart 7']) assert.equal((await refund(other)).status, 200)
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
  assert.deepEqual([status, await balances()], [200, {}])
})

test('an inquiry takes nothing, and does once it is a dispute', async () => {
  const { payment } = await sellPaid()
  const dispute = (type: string, status: string) => shop.deliver(stripeEvent(type, chargeOf(payment), { amount: 3_000, status }))
  assert.equal((await dispute('charge.dispute.created', 'warning_needs_response')).status, 200)
  assert.deepEqual(await balances(), { license: 1_000 })
  for (let i = 0; i < 2; i++) assert.equal((await dispute('charge.dispute.funds_withdrawn', 'needs_response')).status, 200)
  assert.deepEqual(await balances(), {})
})

test('a payment that is not ours moves nothing', async () => {
  await sellPaid()
  await giveBack('refund', `pi_${randomUUID()}`, 3_000)
  assert.deepEqual(await balances(), { license: 1_000 })
})

test('after all this the books are right, and lost credits are not in circulation', async () => {
  const { findings, credits } = await auditLedger(shop.api.ctx.db)
  assert.deepEqual(findings, [])
  const [row] = await shop.query(`select sum(balance)::int as owned from ledger_accounts where kind not in ('platform', 'loss')`)
  assert.equal(credits, row!['owned'])
})
