import type { Tx } from '#db/database.ts'
import { recordEvent } from '#features/events/record-event.ts'
import type { PaymentReversal } from '#ports/payments/payments.ts'
import { postMovements } from '../ledger/ledger.ts'
import { type AccountRef, issuerAccount, redemptionId, transactionId } from '../ledger/movement.ts'
import { findTakenBack, lockLicenseOrWallet } from '../ledger/reversal-store.ts'
import type { Checkout } from './checkout.ts'
import { findCheckoutForUpdate, updateCheckout } from './store.ts'

/**
 * Takes back the credits of a payment that was returned, in proportion to the amount, and books what was spent as a
 * loss. The reported amounts are totals, so a repeat moves nothing.
 */
export async function reverseCheckout(
  tx: Tx,
  { tenantId, id }: Pick<Checkout, 'tenantId' | 'id'>,
  { type, amount }: PaymentReversal,
): Promise<void> {
  const checkout = await findCheckoutForUpdate(tx, tenantId, id)
  if (!checkout?.paidAmount) return
  const refundedAmount = type === 'refund' ? Math.max(amount, checkout.refundedAmount) : checkout.refundedAmount
  const disputedAmount = type === 'dispute' ? Math.max(amount, checkout.disputedAmount) : checkout.disputedAmount
  const returnedCredits = creditsFor(checkout.credits, refundedAmount + disputedAmount, checkout.paidAmount)
  await updateCheckout(tx, { ...checkout, refundedAmount, disputedAmount, returnedCredits })
  const amountCredits = returnedCredits - checkout.returnedCredits
  if (amountCredits === 0) return
  const movementId = transactionId('reversal', id, String(returnedCredits))
  const from = await holderOf(tx, checkout)
  await postMovements(tx, [{ type: 'reversal', id: movementId, from, amountCredits, actor: tenantId, purpose: id }])
  const taken = await findTakenBack(tx, from, movementId)
  await recordEvent(tx, tenantId, 'checkout.refunded', { checkout_id: id, reason: type, taken, lost: amountCredits - taken })
}

/** The part of the credits that this part of the payment bought, rounded down. A full return takes all. */
function creditsFor(credits: number, returnedAmount: number, paidAmount: number): number {
  if (returnedAmount >= paidAmount) return credits
  return Number((BigInt(credits) * BigInt(returnedAmount)) / BigInt(paidAmount))
}

/** Where the sold credits went: the license, the wallet that it was redeemed for, or the issuer's balance. */
async function holderOf(tx: Tx, { tenantId, licenseAccount }: Checkout): Promise<AccountRef> {
  if (licenseAccount === null) return issuerAccount(tenantId)
  const license = { tenantId, id: licenseAccount }
  return lockLicenseOrWallet(tx, license, redemptionId(license))
}
