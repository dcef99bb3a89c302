import type { Tx } from '#db/database.ts'
import { recordEvent } from '#features/events/record-event.ts'
import type { PaymentReversal } from '#ports/payments/payments.ts'
import { postMovements } from '../ledger/ledger.ts'
import { type AccountRef, issuerAccount, platformAccount, redemptionId, transactionId } from '../ledger/movement.ts'
import { findMoved, findReversed, lockLicenseOrWallet } from '../ledger/reversal-store.ts'
import type { Checkout, Dispute } from './checkout.ts'
import { findCheckoutForUpdate, updateCheckout } from './store.ts'

/**
 * Takes back the credits of a payment that was returned, in proportion to the amount, and books what is not there as a
 * loss, which the account owes. Undoes this for the part that came back because a dispute was won. The reported amounts
 * are totals, so a repeat moves nothing.
 *
 * false: nothing was given back, because an earlier release took the credits, and did not record from whom it may take
 * what was lost.
 */
export async function reverseCheckout(
  tx: Tx,
  { tenantId, id }: Pick<Checkout, 'tenantId' | 'id'>,
  reversal: PaymentReversal,
): Promise<boolean> {
  const checkout = await findCheckoutForUpdate(tx, tenantId, id)
  if (!checkout?.paidAmount) return true
  const after = withReport({ ...checkout, paidAmount: checkout.paidAmount }, reversal)
  const amountCredits = after.returnedCredits - checkout.returnedCredits
  if (amountCredits < 0 && (await findReversed(tx, tenantId, id)) !== checkout.returnedCredits) return false
  await updateCheckout(tx, after)
  if (amountCredits > 0) await takeBack(tx, after, { amountCredits, reason: reversal.type })
  if (amountCredits < 0) await giveBack(tx, after, -amountCredits)
  return true
}

function withReport(checkout: Checkout & { paidAmount: number }, reversal: PaymentReversal): Checkout & { paidAmount: number } {
  const { type, amount } = reversal
  const disputes = type === 'refund' ? checkout.disputes : withDispute(checkout.disputes, reversal)
  const sumOf = (part: keyof Dispute) => Object.values(disputes).reduce((sum, dispute) => sum + dispute[part], 0)
  const after = {
    ...checkout,
    disputes,
    refundedAmount: Math.max(checkout.refundedAmount, type === 'refund' ? amount : 0),
    // An earlier release kept only these sums. Until its disputes are reported again, they are larger than their parts.
    disputedAmount: Math.max(checkout.disputedAmount, sumOf('amount')),
    reinstatedAmount: Math.max(checkout.reinstatedAmount, sumOf('reinstated')),
  }
  const returnedAmount = after.refundedAmount + Math.max(0, after.disputedAmount - after.reinstatedAmount)
  return { ...after, returnedCredits: creditsFor(after.credits, returnedAmount, after.paidAmount) }
}

function withDispute(
  disputes: Checkout['disputes'],
  { type, dispute: id, amount }: Exclude<PaymentReversal, { type: 'refund' }>,
): Checkout['disputes'] {
  const before = disputes[id] ?? { amount: 0, reinstated: 0 }
  const reinstated = Math.max(before.reinstated, type === 'reinstatement' ? amount : 0)
  // A won dispute may be reported before the dispute.
  return { ...disputes, [id]: { amount: Math.max(before.amount, type === 'dispute' ? amount : 0, reinstated), reinstated } }
}

/** The part of the credits that this part of the payment bought, rounded down. A full return takes all. */
function creditsFor(credits: number, returnedAmount: number, paidAmount: number): number {
  if (returnedAmount >= paidAmount) return credits
  return Number((BigInt(credits) * BigInt(returnedAmount)) / BigInt(paidAmount))
}

async function takeBack(
  tx: Tx,
  checkout: Checkout,
  { amountCredits, reason }: { amountCredits: number; reason: PaymentReversal['type'] },
): Promise<void> {
  const { tenantId, id, returnedCredits, reinstatedAmount } = checkout
  // After a won dispute, the total may reach the same credits again.
  const total = reinstatedAmount === 0 ? [String(returnedCredits)] : [String(returnedCredits), String(reinstatedAmount)]
  const movementId = transactionId('reversal', id, ...total)
  const from = await holderOf(tx, checkout)
  await postMovements(tx, [
    { type: 'reversal', id: movementId, from, amountCredits, totalCredits: returnedCredits, actor: tenantId, purpose: id },
  ])
  const taken = await findMoved(tx, from, movementId)
  const data = { checkout_id: id, reason: reason === 'refund' ? reason : ('dispute' as const) }
  await recordEvent(tx, tenantId, 'checkout.refunded', { ...data, taken, lost: amountCredits - taken })
}

async function giveBack(tx: Tx, checkout: Checkout, amountCredits: number): Promise<void> {
  const { tenantId, id, reinstatedAmount } = checkout
  const movementId = transactionId('reinstatement', id, String(reinstatedAmount))
  const to = await holderOf(tx, checkout)
  const moves = { from: platformAccount, to, amountCredits, actor: tenantId, purpose: id }
  await postMovements(tx, [{ type: 'reinstatement', id: movementId, ...moves }])
  const returned = await findMoved(tx, platformAccount, movementId)
  await recordEvent(tx, tenantId, 'checkout.reinstated', { checkout_id: id, returned, cancelled: amountCredits - returned })
}

/** Where the sold credits went: the license, the wallet that it was redeemed for, or the issuer's balance. */
async function holderOf(tx: Tx, { tenantId, licenseAccount }: Checkout): Promise<AccountRef> {
  if (licenseAccount === null) return issuerAccount(tenantId)
  const license = { tenantId, id: licenseAccount }
  return lockLicenseOrWallet(tx, license, redemptionId(license))
}
