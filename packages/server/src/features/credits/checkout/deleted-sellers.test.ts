import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { deleteBlobs } from '#features/blob-deletions/delete-blobs.ts'
import { eraseTenants } from '#features/tenant-data/erase-tenants.ts'
import { send } from '#testing/http.ts'
import { startStripeShop, stripeEvents, type StripeShop } from '#testing/stripe-shop.ts'
import type { TestTenant } from '#testing/test-api.ts'
import { auditLedger } from '../ledger/audit-store.ts'
import { forgetCheckouts } from './store.ts'

let shop: StripeShop
/** Where the buyers spend what they bought. */
let other: TestTenant
before(async () => {
  shop = await startStripeShop()
  other = await shop.api.makeTenant()
})
beforeEach(() => shop.openTenant())
afterEach(async () => assert.deepEqual((await auditLedger(shop.api.ctx.db)).findings, []))
after(() => shop.close())

async function call(method: string, path: string, options: object) {
  const answer = await send(shop.api, method, path, options)
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`)
  return answer.body.data
}

/** Deletes the tenant of the shop. Its last requests count as more than a minute old. */
async function eraseSeller(): Promise<void> {
  const { api, tenant } = shop
  const operator = { headers: { 'x-admin-token': api.adminToken } }
  const path = `/tenants/${tenant.id}/deletion`
  await call('POST', path, { ...operator, body: { after_days: 0 } })
  await shop.query(`update tenant_deletions set requested_at = requested_at - interval '1 minute' where tenant_id = $1`, [
    tenant.id,
  ])
  for (const deadline = Date.now() + 20_000; (await call('GET', path, operator)).state !== 'done';) {
    assert.ok(Date.now() < deadline, 'the deletion does not end')
    await eraseTenants(api.ctx)
    await deleteBlobs(api.ctx, 1_000)
  }
}

/** 0: nothing is left under the code. */
async function balanceOf(wallet_code: string): Promise<number> {
  const { body } = await send(shop.api, 'POST', '/wallets/lookup', { key: other.publishableKey, body: { wallet_code } })
  return body.error?.code === 'not_found' ? 0 : body.data.balance
}

const grant = (body: object, { secretKey: key }: TestTenant): Promise<{ coupon: string }> =>
  call('POST', '/wallets/grant', { key, idempotencyKey: randomUUID(), body })

const eventsOfSeller = () =>
  shop.query(
    `select type from event_outbox where tenant_id = $1 union all select type from events where tenant_id = $1
     union all select tenant_id from event_heads where tenant_id = $1`,
    [shop.tenant.id],
  )

test('a dispute after the deletion of the seller takes back what the wallet has left; the rest is a loss of the seller', async () => {
  const { payment, license } = await shop.sellPaid()
  const wallet = (await shop.redeem(license, other.publishableKey)).body.data.wallet_code
  const { coupon } = await grant({ amount: 400, wallet_code: wallet }, other)
  await eraseSeller()
  assert.equal(await balanceOf(wallet), 600)

  for (let i = 0; i < 2; i++) await shop.giveBack('dispute', payment, 3_000)
  assert.deepEqual([await balanceOf(wallet), await balanceOf(coupon)], [0, 400])
  assert.deepEqual(await shop.balances(), { loss: 400 })
  assert.deepEqual(await eventsOfSeller(), [], 'nobody could read an event')

  await shop.giveBack('won', payment, 3_000)
  assert.deepEqual([await balanceOf(wallet), await balanceOf(coupon)], [600, 400])
  assert.deepEqual(await shop.balances(), {})
  assert.deepEqual(await eventsOfSeller(), [])
})

test('a refund after the deletion takes back a license that is not redeemed, and what is left of the issuer’s balance', async () => {
  const sold = await shop.sellPaid()
  const prefunded = await shop.sellPaid('prefund')
  const { coupon } = await grant({ amount: 300 }, shop.tenant)
  await eraseSeller()
  await shop.giveBack('refund', sold.payment, 1_500)
  await shop.giveBack('refund', sold.payment, 3_000)
  await shop.giveBack('refund', prefunded.payment, 3_000)
  assert.equal((await shop.redeem(sold.license, other.publishableKey)).body.error.code, 'already_spent')
  assert.equal(await balanceOf(coupon), 300)
  assert.deepEqual(await shop.balances(), { coupon: 300, loss: 300 })
})

test('of a paid checkout, a deletion keeps ids, amounts and times; of any other, nothing', async () => {
  const { id, payment } = await shop.sellPaid()
  const free = await shop.sell({ purpose: 'license_key' })
  await shop.tell('free', free.session)
  const expired = await shop.sell({ purpose: 'license_key' })
  await shop.tell('expired', expired.session)
  const [before] = await shop.query('select * from checkouts where id = $1', [id])
  await eraseSeller()
  const kept = await shop.query('select * from checkouts where tenant_id = $1', [shop.tenant.id])
  const blank = { reference: '', url: '', success_url: '', cancel_url: '', license_sealed: null }
  assert.deepEqual(kept, [{ ...before, ...blank }])
  assert.deepEqual([before?.['payment'], before?.['paid_amount']], [payment, 3_000])
})

test('what is kept of a deleted seller goes after the retention of checkouts, in batches', async () => {
  for (let i = 0; i < 3; i++) await shop.sellPaid()
  await eraseSeller()
  const age = (days: number) =>
    shop.query('update checkouts set paid_at = now() - make_interval(days => $2) where tenant_id = $1', [shop.tenant.id, days])
  await age(549)
  const { checkouts: days } = shop.api.ctx.config.retentionDays
  assert.equal(await forgetCheckouts(shop.api.ctx.db, days, 2), 0)
  await age(551)
  for (const count of [2, 1, 0]) assert.equal(await forgetCheckouts(shop.api.ctx.db, days, 2), count)
})

test('a payment that arrives during the deletion is kept, too', async () => {
  const { session } = await shop.sell({ purpose: 'license_key' })
  const { api, tenant } = shop
  await call('POST', `/tenants/${tenant.id}/deletion`, { headers: { 'x-admin-token': api.adminToken }, body: { after_days: 0 } })
  for (let sweeps = 0; sweeps < 3; sweeps++) await eraseTenants(api.ctx)
  const payment = `pi_${randomUUID()}`
  const paid = stripeEvents.paid({ ...session, payment_intent: payment })
  assert.equal((await shop.deliver(paid)).status, 200)
  assert.deepEqual(await shop.balances(), { license: 1_000 })
  await eraseSeller()
  await shop.giveBack('refund', payment, 3_000)
  assert.deepEqual(await shop.balances(), {})
  assert.deepEqual(await eventsOfSeller(), [])
})

test('a process of the previous release, which would remove the payments, does not get the lease of its sweep', async () => {
  const claimed = await shop.query(
    `insert into sweep_leases (name, interval_ms) values ('erasure of tenants', 5000) returning name`,
  )
  assert.deepEqual(claimed, [])
})
