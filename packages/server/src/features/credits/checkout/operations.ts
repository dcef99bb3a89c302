import { hash } from 'node:crypto'
import { makeId } from '@atrium/contract/tokens'
import { hashCredential, newAccountId, newCredential, newId } from '#crypto/random.ts'
import type { Db, Tx } from '#db/database.ts'
import { ApiError, notConfigured } from '#errors/api-error.ts'
import type { Context } from '#features/context.ts'
import { recordEvent } from '#features/events/record-event.ts'
import type { HandlerOf } from '#features/handler.ts'
import { assertActive } from '#features/tenants/assert-active.ts'
import type { Claim } from '#http/idempotency/claim.ts'
import { claimedTransaction } from '#http/idempotency/claimed-transaction.ts'
import { assertUnanswered } from '#http/idempotency/run-claimed.ts'
import type { PaymentEvent } from '#ports/payments/payments.ts'
import { postMovements } from '../ledger/ledger.ts'
import { type Transfer, issuerAccount, platformAccount, transactionId } from '../ledger/movement.ts'
import { findCodeAccount } from '../ledger/store.ts'
import { type Checkout, checkoutView, licenseRef, priceOf, returnAddress, withCheckoutId } from './checkout.ts'
import {
  eraseLicenseOf,
  findCheckout,
  findCheckoutForUpdate,
  insertCheckout,
  listCheckouts as listRows,
  updateCheckout,
} from './store.ts'
import { readTimeQuery } from '#http/time-page.ts'

const sellsNothing = 'This installation sells nothing yet: its operator has to set STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET.'

/**
 * Calls the provider first, without a database connection during the call. Row, claim and answer then commit in one
 * transaction.
 */
export const createCheckout: HandlerOf<'createCheckout'> = async ({ ctx, claim, tenantId, key, body }) => {
  await assertUnanswered(ctx.db, claim)
  const { purpose, credits } = body
  if (purpose === 'prefund' && !key.roles.includes('issuer')) throw new ApiError('issuer_role_required')
  const successUrl = returnAddress(body.success_url, '/success_url')
  const cancelUrl = returnAddress(body.cancel_url, '/cancel_url')
  const { config, payments } = ctx
  const amount = priceOf(credits, config)
  if (!payments) throw notConfigured(sellsNothing)

  const id = await checkoutIdFor(ctx.db, tenantId, claim)
  const payment = await payments.createPayment({
    checkoutId: id,
    purpose,
    credits,
    amount,
    currency: config.currency,
    successUrl: withCheckoutId(successUrl, id),
    cancelUrl,
  })
  const { provider } = payments
  return claimedTransaction(ctx.db, claim, async (tx) => {
    await assertActive(tx, tenantId)
    await insertCheckout(tx, { tenantId, id, purpose, credits, provider, ...payment, successUrl, cancelUrl })
    return { status: 201, data: { id, url: payment.url, status: 'open' } }
  })
}

/**
 * The id of the new checkout. It derives from the request's claim, so that a repeat after a crash, which finds no row,
 * meets the same payment at the provider. The seed includes the body, because after an error the key may be used with
 * another body. Once the first checkout exists and its answer is no longer kept, the key makes a new one.
 */
async function checkoutIdFor(db: Db, tenantId: string, claim: Claim<never> | undefined): Promise<string> {
  if (!claim) return newId('checkout')
  const id = derivedId(claim.seed())
  return (await findCheckout(db, tenantId, id)) ? newId('checkout') : id
}

function derivedId(seed: Buffer): string {
  let round = 0
  return makeId('checkout', (length) =>
    hash('sha512', Buffer.concat([seed, Buffer.from([round++])]), 'buffer').subarray(0, length),
  )
}

export const getCheckout: HandlerOf<'getCheckout'> = async ({ ctx, tenantId, params }) => {
  const checkout = await findCheckout(ctx.db, tenantId, params.id)
  if (!checkout) throw new ApiError('not_found')
  const view = checkoutView(checkout)
  const licenseKey = await readLicense(ctx, checkout)
  return { status: 200, data: { ...view, ...(licenseKey === undefined ? {} : { license_key: licenseKey }) } }
}

/**
 * The license key until its redemption. Reading does not consume it, because the answer may be lost. The ledger
 * shows whether the key was redeemed. The redemption also erases the key, but the process may have ended before
 * that.
 */
async function readLicense(ctx: Context, checkout: Checkout): Promise<string | undefined> {
  if (!checkout.licenseSealed) return undefined
  const licenseKey = ctx.vault.open(checkout.licenseSealed, licenseRef(checkout)).toString()
  const license = await findCodeAccount(ctx.db, licenseKey)
  if (license && license.balanceCredits > 0) return licenseKey
  if (!mayComeBack(checkout)) await eraseLicenseOf(ctx.db, checkout)
  return undefined
}

/** Whether a dispute took all credits. If it is won, it gives them back to the license, unless they are refunded, too. */
function mayComeBack({
  credits,
  returnedCredits,
  paidAmount,
  refundedAmount,
  disputedAmount,
  reinstatedAmount,
}: Checkout): boolean {
  return returnedCredits === credits && disputedAmount > reinstatedAmount && refundedAmount < (paidAmount ?? 0)
}

/**
 * Applies a notification of the provider; notifications may arrive in any order and repeatedly. Credits move once: the
 * function locks the checkout's row first, and the movement's id derives from the checkout. Money that arrives after
 * the expiry counts; after it no other notification does. false: the payment is not this checkout's.
 */
export async function completeCheckout(
  ctx: Pick<Context, 'vault'>,
  tx: Tx,
  tenantId: string,
  event: PaymentEvent,
): Promise<boolean> {
  const checkout = await findCheckoutForUpdate(tx, tenantId, event.checkoutId)
  if (!checkout || checkout.provider !== event.provider || checkout.reference !== event.reference) return false
  if (checkout.paidAt !== null) return true
  const now = checkout.readAt
  const { payment } = event
  const paid = { ...checkout, payment: payment?.id ?? null, paidAmount: payment?.amount ?? null, paidAt: now }
  if (event.type === 'paid') await completePaid(ctx, tx, paid)
  else if (event.type === 'pending') await updateCheckout(tx, { ...checkout, pendingAt: checkout.pendingAt ?? now })
  else await updateCheckout(tx, { ...checkout, endedAt: checkout.endedAt ?? now })
  return true
}

async function completePaid({ vault }: Pick<Context, 'vault'>, tx: Tx, checkout: Checkout): Promise<void> {
  const licenseKey = checkout.purpose === 'license_key' ? newCredential('licenseKey') : undefined
  const sale = saleOf(checkout, licenseKey)
  const [outcome] = await postMovements(tx, [sale])
  // The paid time and the transfer commit together, so that an unpaid checkout has no transfer.
  if (outcome !== 'posted') throw new Error(`the sale of checkout ${checkout.id} was ${outcome}`)
  const licenseSealed = licenseKey === undefined ? null : vault.seal(Buffer.from(licenseKey), licenseRef(checkout))
  await updateCheckout(tx, { ...checkout, licenseSealed, licenseAccount: licenseKey === undefined ? null : sale.to.id })
  const { tenantId, id, purpose, credits } = checkout
  await recordEvent(tx, tenantId, 'checkout.paid', { checkout_id: id, purpose, credits })
}

function saleOf({ tenantId, id, credits }: Checkout, licenseKey: string | undefined): Transfer {
  const sale = {
    type: 'transfer',
    id: transactionId('checkout', id),
    from: platformAccount,
    amountCredits: credits,
    actor: tenantId,
    purpose: id,
  } as const
  if (licenseKey === undefined) return { ...sale, kind: 'prefund', to: issuerAccount(tenantId) }
  const opens = { kind: 'license', codeHash: hashCredential(licenseKey) } as const
  return { ...sale, kind: 'sale', to: { tenantId, id: newAccountId() }, opens }
}

/** Without license keys: reading one checkout answers its key. */
export const listCheckouts: HandlerOf<'listCheckouts'> = async ({ ctx, tenantId, query }) => {
  const { range, limit, cursorAfter } = readTimeQuery(`checkouts:${tenantId}`, query)
  const { status, purpose } = query
  const { checkouts, last } = await listRows(ctx.db, tenantId, { status, purpose, range, limit })
  return { status: 200, data: checkouts.map(checkoutView), nextCursor: cursorAfter(last) }
}
