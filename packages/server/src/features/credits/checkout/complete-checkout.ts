import type { Context } from '#features/context.ts'
import type { Tx } from '#db/database.ts'
import type { PaymentEvent } from '#ports/payments/payments.ts'
import { hashCredential, newAccountId, newCredential } from '#crypto/random.ts'
import { issuerAccount, platformAccount } from '../ledger/account.ts'
import { transactionId, type Transfer } from '../ledger/movement.ts'
import { postMovements } from '../ledger/post.ts'
import { licenseRef, type Checkout } from './checkout.ts'
import { findCheckoutForUpdate, updateCheckout } from './store.ts'

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
  const now = new Date().toISOString()
  if (event.type === 'paid') await completePaid(ctx, tx, checkout, now)
  else if (event.type === 'pending') await updateCheckout(tx, { ...checkout, pendingAt: checkout.pendingAt ?? now })
  else await updateCheckout(tx, { ...checkout, endedAt: checkout.endedAt ?? now })
  return true
}

async function completePaid({ vault }: Pick<Context, 'vault'>, tx: Tx, checkout: Checkout, paidAt: string): Promise<void> {
  const licenseKey = checkout.purpose === 'license_key' ? newCredential('licenseKey') : undefined
  const sale = saleOf(checkout, licenseKey)
  const [outcome] = await postMovements(tx, [sale])
  // The paid time and the transfer commit together, so that an unpaid checkout has no transfer.
  if (outcome !== 'posted') throw new Error(`the sale of checkout ${checkout.id} was ${outcome}`)
  const licenseSealed = licenseKey === undefined ? null : vault.seal(Buffer.from(licenseKey), licenseRef(checkout))
  await updateCheckout(tx, { ...checkout, paidAt, licenseSealed, licenseAccount: licenseKey === undefined ? null : sale.to.id })
}

function saleOf({ tenantId, id, credits }: Checkout, licenseKey: string | undefined): Transfer {
  const sale = {
    type: 'transfer',
    id: transactionId('checkout', id),
    from: platformAccount,
    amountCredits: credits,
    actor: tenantId,
  } as const
  if (licenseKey === undefined) return { ...sale, kind: 'prefund', to: issuerAccount(tenantId) }
  const opens = { kind: 'license', codeHash: hashCredential(licenseKey) } as const
  return { ...sale, kind: 'sale', to: { tenantId, id: newAccountId() }, opens }
}
