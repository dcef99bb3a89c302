import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { statement } from '#db/database.ts'
import { stripeEvent } from '#testing/fake-stripe.ts'
import { chargeOf, startStripeShop, type StripeShop } from '#testing/stripe-shop.ts'
import { untilBlocked } from '#testing/until-blocked.ts'
import { auditLedger } from '../ledger/audit-store.ts'
import { type AccountRef, transactionId } from '../ledger/movement.ts'
import { findCodeAccount } from '../ledger/store.ts'
import { reverseCheckout } from './reverse-checkout.ts'

let shop: StripeShop
before(async () => {
  shop = await startStripeShop()
})
beforeEach(() => shop.openTenant())
after(() => shop.close())

async function sellWallet() {
  const sold = await shop.sellPaid()
  const code = (await shop.redeem(sold.license)).body.data.wallet_code as string
  const { account } = (await findCodeAccount(shop.api.ctx.db, code))!
  return { ...sold, account }
}

const findings = async () => (await auditLedger(shop.api.ctx.db)).findings.map(({ subject }) => subject)

/** A transfer of the previous release, which keeps no record of what is owed. */
const takeUnrecorded = (from: AccountRef, id: string, amount: number) =>
  shop.query(
    `insert into ledger_transfers (tenant_id, id, kind, from_id, to_tenant_id, to_id, amount, actor, purpose)
     values ($1, $2, 'refund', $3, 'platform', 'platform', $4, $5, $6)`,
    [from.tenantId, transactionId('unrecorded', randomUUID()), from.id, amount, shop.tenant.id, id],
  )

test('of a lost dispute, what Stripe returns because it was refunded before gives no credits back', async () => {
  const { payment } = await shop.sellPaid()
  await shop.giveBack('refund', payment, 1_500)
  await shop.giveBack('dispute', payment, 3_000)
  const partlyWon = stripeEvent('charge.dispute.funds_reinstated', chargeOf(payment), { amount: 3_000, status: 'lost' })
  assert.equal((await shop.deliver(partlyWon)).status, 200)
  assert.deepEqual(await shop.balances(), {})
})

test('a license key that a refund voided is erased, and one that a dispute voided is kept until it is refunded', async () => {
  const isKept = async (id: string) => {
    assert.equal((await shop.look(id)).license_key, undefined)
    return (await shop.query('select license_sealed is not null as kept from checkouts where id = $1', [id]))[0]!['kept']
  }
  const refunded = await shop.sellPaid()
  await shop.giveBack('refund', refunded.payment, 3_000)
  const disputed = await shop.sellPaid()
  await shop.giveBack('dispute', disputed.payment, 3_000)
  assert.deepEqual([await isKept(refunded.id), await isKept(disputed.id)], [false, true])
  await shop.giveBack('refund', disputed.payment, 3_000)
  assert.equal(await isKept(disputed.id), false)
})

test('a dispute that commits while its checkout is read leaves the license key, and gives it back when it is won', async () => {
  const { id, payment, license } = await shop.sellPaid()
  const { ctx } = shop.api
  const lock = statement<never>('test-lock-accounts', 'lock table ledger_accounts in access exclusive mode')
  let reading: Promise<{ license_key?: string }> | undefined
  await ctx.db.transaction(async (tx) => {
    await tx.query(lock, [])
    reading ??= shop.look(id)
    // It has read the checkout, and waits for the balance of the license.
    await untilBlocked(ctx.db.pool)
    const dispute = { type: 'dispute', dispute: 'dp_1', provider: 'stripe', payment, amount: 3_000 } as const
    assert.ok(await reverseCheckout(tx, { tenantId: shop.tenant.id, id }, dispute))
  })
  assert.equal((await reading)?.license_key, undefined)
  await shop.giveBack('won', payment, 3_000)
  assert.equal((await shop.look(id)).license_key, license)
})

test('what an earlier release took is not given back, and the log says so', async (t) => {
  const { id, payment, account } = await sellWallet()
  await shop.giveBack('dispute', payment, 1_500)
  await shop.query('update checkouts set disputed_amount = 3000, returned_credits = 1000 where id = $1', [id])
  await takeUnrecorded(account, id, 500)
  const warn = t.mock.method(shop.api.ctx.log, 'warn')
  await shop.giveBack('won', payment, 3_000)
  assert.match(JSON.stringify(warn.mock.calls.map((call) => call.arguments)), /gave no credits back/)
  assert.deepEqual(await shop.balances(), {})
})

test('a process of the release before leaves a report about a payment whose dispute was won to a newer one', async () => {
  const { id, payment } = await sellWallet()
  await shop.giveBack('dispute', payment, 3_000)
  await shop.giveBack('won', payment, 3_000)
  // What that release writes, which adds the disputed amount: for a repeat of the dispute, and for a refund.
  const report = 'update checkouts set refunded_amount = $2, disputed_amount = 3000, returned_credits = 1000 where id = $1'
  for (const refunded of [0, 600]) await assert.rejects(shop.query(report, [id, refunded]), { code: '40001' })
  await shop.giveBack('dispute', payment, 3_000)
  assert.deepEqual(await shop.balances(), { wallet: 1_000 })
  await shop.giveBack('refund', payment, 600)
  assert.deepEqual([await shop.balances(), await findings()], [{ wallet: 800 }, []])
})

test('the audit accepts what an earlier release took beside the record, and finds what was taken twice', async () => {
  const { id, payment, account } = await sellWallet()
  await shop.giveBack('refund', payment, 1_500)
  await shop.query('update checkouts set refunded_amount = 2100, returned_credits = 700 where id = $1', [id])
  await takeUnrecorded(account, id, 200)
  assert.deepEqual(await findings(), [])
  await shop.giveBack('refund', payment, 2_700)
  assert.deepEqual(await findings(), [])
  await takeUnrecorded(account, id, 100)
  assert.deepEqual(await findings(), [`${shop.tenant.id}/${id}`])
})

test('what an account owes is looked up by index, also in a connection from before many payments were returned', async () => {
  const client = await shop.api.ctx.db.pool.connect()
  const look = () =>
    client.query(`select from lock_books('{}', '{}', '{}', '{}', '{}', array['${shop.tenant.id}'], '{issuer}', true)`)
  const scanned = async () => {
    await client.query('select pg_stat_force_next_flush()')
    const sql = `select seq_tup_read::int as count from pg_stat_user_tables where relname = 'ledger_reversals'`
    return (await client.query(sql)).rows[0]?.['count'] as number
  }
  try {
    await client.query('analyze ledger_reversals')
    // PostgreSQL then keeps the plan.
    for (let i = 0; i < 10; i++) await look()
    await client.query(
      `insert into ledger_reversals (seller, purpose, tenant_id, account_id, reversed, lost, recovered, unrecorded)
       select 'ten_many', 'chk_' || i, 'ten_many', 'acc_' || i, 1, 1, 1, 0 from generate_series(1, 5000) i`,
    )
    const before = await scanned()
    await look()
    assert.equal((await scanned()) - before, 0)
  } finally {
    await client.query(`delete from ledger_reversals where seller = 'ten_many'`)
    client.release()
  }
})
