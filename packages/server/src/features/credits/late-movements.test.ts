import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { deleteBlobs } from '#features/blob-deletions/delete-blobs.ts'
import { eraseTenants } from '#features/tenant-data/erase-tenants.ts'
import { type Got, send } from '#testing/http.ts'
import { eventually } from '#testing/session-world.ts'
import { startStripeShop, type StripeShop } from '#testing/stripe-shop.ts'
import type { TestTenant } from '#testing/test-api.ts'
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

/** What the call answers if its tenant is deleted while it waits for the locked account. */
async function callDuringDeletion(tenant: TestTenant, account: AccountRef, call: () => Promise<Got>): Promise<Got> {
  const { db, ledger } = shop.api.ctx
  const holder = await db.pool.connect()
  try {
    await holder.query('begin; set local idle_in_transaction_session_timeout = 0')
    await holder.query('select from ledger_accounts where tenant_id = $1 and id = $2 for update', [account.tenantId, account.id])
    const answer = call()
    await Promise.race([
      eventually(async () => ledger.isBlocked(accountKey(account)), 'the call waits'),
      answer.then(({ text }) => assert.fail(text)),
    ])
    await erase(tenant)
    await holder.query('commit')
    return await answer
  } finally {
    holder.release()
  }
}

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
  const [account] = await shop.query(
    `select tenant_id as "tenantId", id from ledger_accounts where kind = 'license' and balance > 0`,
  )
  const late = await shop.api.makeTenant()
  const redeem = () => shop.redeem(license, late.publishableKey)
  const { status, body } = await callDuringDeletion(late, account as unknown as AccountRef, redeem)
  assert.deepEqual([status, body.error?.code], [401, 'tenant_suspended'])
  assert.deepEqual(await written(late.id), [])
  assert.equal((await shop.redeem(license)).body.data.balance, 1_000)
  assert.deepEqual((await auditLedger(shop.api.ctx.db)).findings, [])
})
