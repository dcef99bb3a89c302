import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { statement } from '#db/database.ts'
import { deleteBlobs } from '#features/blob-deletions/delete-blobs.ts'
import { eraseTenants } from '#features/tenant-data/erase-tenants.ts'
import { type Got, send } from '#testing/http.ts'
import { eventually } from '#testing/session-world.ts'
import { startStripeShop, type StripeShop } from '#testing/stripe-shop.ts'
import type { TestTenant } from '#testing/test-api.ts'
import { reverseCheckout } from './checkout/reverse-checkout.ts'
import { auditLedger } from './ledger/audit-store.ts'
import { accountKey, type AccountRef, issuerAccount } from './ledger/movement.ts'

let shop: StripeShop
before(async () => {
  shop = await startStripeShop()
})
after(() => shop.close())

/** Deletes the tenant. The requests that are in flight count as more than a minute old. */
async function erase({ id }: TestTenant): Promise<void> {
  const operator = { headers: { 'x-admin-token': shop.api.adminToken } }
  const asked = await send(shop.api, 'POST', `/tenants/${id}/deletion`, { ...operator, body: { after_days: 0 } })
  assert.equal(asked.status, 202, asked.text)
  await shop.query(`update tenant_deletions set requested_at = requested_at - interval '1 minute' where tenant_id = $1`, [id])
  const state = async () => (await send(shop.api, 'GET', `/tenants/${id}/deletion`, operator)).body.data.state
  while ((await state()) !== 'done') {
    await eraseTenants(shop.api.ctx)
    await deleteBlobs(shop.api.ctx, 1_000)
  }
}

/** The account of the one license that holds credits. */
async function licenseAccount(): Promise<AccountRef> {
  const rows = await shop.query(`select tenant_id as "tenantId", id from ledger_accounts where kind = 'license' and balance > 0`)
  assert.equal(rows.length, 1)
  return rows[0] as unknown as AccountRef
}

/** Waits until the call waits for the locked account. */
const untilItWaits = (account: AccountRef, call: Promise<Got>): Promise<unknown> =>
  Promise.race([
    eventually(async () => shop.api.ctx.ledger.isBlocked(accountKey(account)), 'the call waits'),
    call.then(({ text }) => assert.fail(text)),
  ])

/** What the call answers if its tenant is deleted while it waits for the locked account. */
async function callDuringDeletion(tenant: TestTenant, account: AccountRef, call: () => Promise<Got>): Promise<Got> {
  const { db } = shop.api.ctx
  const holder = await db.pool.connect()
  try {
    await holder.query('begin; set local idle_in_transaction_session_timeout = 0')
    await holder.query('select from ledger_accounts where tenant_id = $1 and id = $2 for update', [account.tenantId, account.id])
    const answer = call()
    await untilItWaits(account, answer)
    await erase(tenant)
    await holder.query('commit')
    return await answer
  } finally {
    holder.release()
  }
}

const unlimitedStatement = statement<never>('test-idle-without-limit', 'set local idle_in_transaction_session_timeout = 0')

const written = (id: string) =>
  shop.query(
    `select 'transfer' as what, memo from ledger_transfers where actor = $1 and kind in ('grant', 'redemption')
     union all select 'claim', null from idempotency_keys where scope = $1
     union all select 'event', null from event_outbox where tenant_id = $1`,
    [id],
  )

test('a grant that waits for a row while its tenant is deleted is refused, and writes nothing', async () => {
  await shop.openTenant()
  const { tenant } = shop
  await shop.sellPaid('prefund')
  const grant = () =>
    send(shop.api, 'POST', '/wallets/grant', {
      key: tenant.secretKey,
      idempotencyKey: randomUUID(),
      body: { amount: 7, memo: 'for a person' },
    })
  const { status, body } = await callDuringDeletion(tenant, issuerAccount(tenant.id), grant)
  assert.deepEqual([status, body.error?.code], [401, 'tenant_suspended'])
  assert.deepEqual(await written(tenant.id), [])
  assert.deepEqual((await auditLedger(shop.api.ctx.db)).findings, [])
})

test('a redemption that waits while its tenant is deleted is refused, and the license stays redeemable at another tenant', async () => {
  await shop.openTenant()
  const { license } = await shop.sellPaid()
  const account = await licenseAccount()
  const late = await shop.api.makeTenant()
  const redeem = () => shop.redeem(license, late.publishableKey)
  const { status, body } = await callDuringDeletion(late, account, redeem)
  assert.deepEqual([status, body.error?.code], [401, 'tenant_suspended'])
  assert.deepEqual(await written(late.id), [])
  assert.equal((await shop.redeem(license)).body.data.balance, 1_000)
  assert.deepEqual((await auditLedger(shop.api.ctx.db)).findings, [])
})

test('a redemption that waits while a won dispute gives credits back to the license leaves none of them there', async () => {
  await shop.openTenant()
  const { id, payment, license } = await shop.sellPaid()
  await shop.giveBack('dispute', payment, 1_500)
  const account = await licenseAccount()
  // In an array, because a returned promise would be awaited before the commit.
  const [redeemed] = await shop.api.ctx.db.transactionOnce(async (tx) => {
    await tx.query(unlimitedStatement, [])
    const won = { type: 'reinstatement', provider: 'stripe', payment, dispute: 'dp_1', amount: 1_500 } as const
    await reverseCheckout(tx, { tenantId: shop.tenant.id, id }, won)
    const call = shop.redeem(license)
    await untilItWaits(account, call)
    return [call]
  })
  const { status, body, headers } = await redeemed
  assert.deepEqual([status, body.error?.code, headers.get('retry-after')], [503, 'unavailable', '1'])
  assert.deepEqual(await shop.balances(), { license: 1_000 })
  assert.equal((await shop.redeem(license)).body.data.balance, 1_000)
  assert.equal((await shop.redeem(license)).body.error.code, 'already_spent')
  assert.deepEqual(await shop.balances(), { wallet: 1_000 })
  assert.deepEqual((await auditLedger(shop.api.ctx.db)).findings, [])
})
