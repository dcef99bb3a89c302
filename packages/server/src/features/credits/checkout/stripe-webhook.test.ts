import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { atOnce } from '#testing/at-once.ts'
import { stripeEvent, stripeSignature } from '#testing/fake-stripe.ts'
import { send } from '#testing/http.ts'
import { startStripeShop, stripeEvents, type StripeShop } from '#testing/stripe-shop.ts'

let shop: StripeShop
before(async () => {
  shop = await startStripeShop()
})
beforeEach(() => shop.openTenant())
after(() => shop.close())

const nothing = { transfers: 0, credits: 0, licenses: 0 }

test('paid: the credits are sold, and the key mints a wallet', async () => {
  const { id, session } = await shop.sell()
  await shop.tell('paid', session)
  const { status, url, license_key: license } = await shop.look(id)
  assert.deepEqual([status, url], ['paid', null])
  const redeemed = await send(shop.api, 'POST', '/wallets/redeem', {
    key: shop.tenant.publishableKey,
    body: { license_key: license },
  })
  assert.equal(redeemed.body.data.balance, 1_000)
  const other = await shop.sell({ purpose: 'prefund' })
  await shop.tell('free', other.session)
  assert.equal((await shop.look(other.id)).status, 'paid')
})

test('a payment that arrives while its tenant is suspended is booked', async () => {
  const { session } = await shop.sell({ purpose: 'prefund' })
  const { api, tenant } = shop
  const operator = { headers: { 'x-admin-token': api.adminToken }, body: { status: 'suspended' } }
  assert.equal((await send(api, 'POST', `/tenants/${tenant.id}/status`, operator)).status, 200)
  await shop.tell('paid', session)
  assert.equal((await shop.sold())['credits'], 1_000)
})

test('a signature that is missing, malformed, of another secret, of other bytes or old moves nothing', async () => {
  const { id, session } = await shop.sell()
  const payload = stripeEvents.paid(session)
  const good = stripeSignature(payload)
  const forged: [string, string | undefined][] = [
    [payload, ''],
    [payload, 'nonsense'],
    [payload, good.replace(/v1=./, 'v1=x')],
    [payload, good.replace('v1=', 'v0=')],
    [payload, stripeSignature(payload, { secret: 'whsec_other' })],
    [payload, stripeSignature(payload, { ageSeconds: 301 })],
    [`${payload} `, good],
    [payload.replace(session.id, shop.stripe.sessions[0]!.id.replace('cs_', 'ct_')), good],
    [payload.replace('"livemode":false', '"livemode":true'), good],
  ]
  for (const [body, signature] of forged) {
    const answer = await shop.deliver(body, signature)
    assert.equal(answer.status, 400, signature)
    assert.equal(answer.body.error!.code, 'invalid_request')
    assert.match(answer.body.error!.request_id, /^req_/)
  }
  assert.equal((await shop.look(id)).status, 'open')
  assert.deepEqual(await shop.sold(), nothing)
  assert.equal((await shop.deliver(payload, stripeSignature(payload, { ageSeconds: 290 }))).status, 200)
  assert.equal((await shop.look(id)).status, 'paid')
})

test('paid twenty times and expired twenty times, all at once: sold once, one key', async () => {
  const { id, session } = await shop.sell()
  const names = Array.from({ length: 20 }, () => ['paid', 'expired', 'succeeded'] as const).flat()
  await atOnce(shop.api, id, () => Promise.all(names.map((name) => shop.tell(name, session))))
  assert.deepEqual(await shop.sold(), { transfers: 1, credits: 1_000, licenses: 1 })
  const looks = await Promise.all(Array.from({ length: 20 }, () => shop.look(id)))
  assert.deepEqual(new Set(looks.map((seen) => seen.status)), new Set(['paid']))
  assert.equal(new Set(looks.map((seen) => seen.license_key)).size, 1)
})

test('in whichever order, with replays: where money came it is paid, once', async () => {
  const orders = permutationsOf(['pending', 'paid', 'succeeded', 'expired', 'failed'] as const)
  assert.equal(orders.length, 120)
  for (const [i, names] of orders.entries()) {
    const { id, session } = await shop.sell({ credits: i + 1, purpose: i % 2 ? 'prefund' : 'license_key' })
    for (const name of [...names, ...names]) await shop.tell(name, session)
    assert.equal((await shop.look(id)).status, 'paid', names.join())
  }
  assert.deepEqual(await shop.sold(), { transfers: 120, credits: (120 * 121) / 2, licenses: 60 })
})

test('where no money came nothing is sold, in whichever order', async () => {
  for (const names of permutationsOf(['pending', 'expired', 'failed'] as const)) {
    const { id, session } = await shop.sell()
    for (const name of names) await shop.tell(name, session)
    const { status, url } = await shop.look(id)
    assert.deepEqual([status, url], ['expired', null], names.join())
  }
  assert.deepEqual(await shop.sold(), nothing)
})

test('a slow payment keeps the checkout open past its expiry, without a page to pay on', async () => {
  const { id, session } = await shop.sell()
  await shop.tell('pending', session)
  await shop.query(`update checkouts set expires_at = now() - interval '3 days' where id = $1`, [id])
  const { status, url } = await shop.look(id)
  assert.deepEqual([status, url], ['open', null])
  assert.deepEqual(await shop.sold(), nothing)
  await shop.tell('succeeded', session)
  assert.equal((await shop.look(id)).status, 'paid')
})

test('money that comes after the expiry is honoured', async () => {
  const { id, session } = await shop.sell()
  await shop.query(`update checkouts set expires_at = now() - interval '1 second' where id = $1`, [id])
  assert.equal((await shop.look(id)).status, 'expired')
  await shop.tell('paid', session)
  assert.ok((await shop.look(id)).license_key)
})

test('what is about nothing of ours is taken in and moves nothing', async () => {
  const { id, session } = await shop.sell()
  const signed = (payload: string) => shop.deliver(payload)
  const others = [
    stripeEvent('payment_intent.succeeded', session),
    stripeEvents.paid({ ...session, client_reference_id: 'order-7' }),
    stripeEvent('checkout.session.completed', session, { payment_status: 'paid', client_reference_id: null }),
    stripeEvents.paid({ ...session, client_reference_id: 'chk_4fRzK0vXcB1mQwErTy7uPa' }),
    // Another session that bears our id.
    stripeEvents.paid({ ...session, id: 'cs_test_other' }),
  ]
  for (const payload of others) assert.equal((await signed(payload)).status, 200)
  assert.equal((await shop.look(id)).status, 'open')
  assert.deepEqual(await shop.sold(), nothing)
})

test('a fault is an error answer, so that Stripe tells it again', async () => {
  const { id, session } = await shop.sell()
  await shop.query('alter table ledger_transfers add constraint no check (id is null) not valid', [])
  assert.equal((await shop.deliver(stripeEvents.paid(session))).status, 500)
  await shop.query('alter table ledger_transfers drop constraint no', [])
  assert.equal((await shop.look(id)).status, 'open')
  await shop.tell('paid', session)
  assert.equal((await shop.look(id)).status, 'paid')
})

test('a signed event about a checkout of the test page moves nothing', async () => {
  const id = 'chk_4fRzK0vXcB1mQwErTy7uPb'
  await shop.query(
    `insert into checkouts (tenant_id, id, purpose, credits, provider, reference, url, success_url, cancel_url, expires_at)
     values ($1, $2, 'prefund', 5, 'test', $2, 'http://x/', 'http://x/', 'http://x/', now() + interval '1 hour')`,
    [shop.tenant.id, id],
  )
  const { session } = await shop.sell()
  assert.equal((await shop.deliver(stripeEvents.paid({ ...session, id, client_reference_id: id }))).status, 200)
  assert.equal((await shop.look(id)).status, 'open')
})

function permutationsOf<T>(values: readonly T[]): T[][] {
  if (values.length === 0) return [[]]
  return values.flatMap((value, i) => permutationsOf(values.toSpliced(i, 1)).map((rest) => [value, ...rest]))
}
