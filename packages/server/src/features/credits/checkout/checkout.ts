import type { PaymentProvider } from '#ports/payments/payments.ts'
import type { Place } from '#crypto/vault/sealed-columns.ts'

/** A sale of credits. Times are RFC 3339. */
export interface Checkout {
  tenantId: string
  id: string
  purpose: 'license_key' | 'prefund'
  credits: number
  provider: PaymentProvider
  /** The provider's own id of the payment. */
  reference: string
  url: string
  successUrl: string
  cancelUrl: string
  /** The license key, from the payment until it is redeemed. */
  licenseSealed: Buffer | null
  /** The account that holds the license's credits; null in what was sold before 0022. */
  licenseAccount: string | null
  createdAt: string
  expiresAt: string
  /** The buyer is done and the money on its way. */
  pendingAt: string | null
  /** The provider gave up on it. */
  endedAt: string | null
  paidAt: string | null
}

type CheckoutStatus = 'open' | 'paid' | 'expired'

/** How a checkout stands. Money that came counts, however late; what is on its way keeps a checkout open past its expiry. */
export function statusOf(checkout: Checkout, nowMs: number): CheckoutStatus {
  if (checkout.paidAt !== null) return 'paid'
  if (checkout.endedAt !== null) return 'expired'
  return checkout.pendingAt !== null || Date.parse(checkout.expiresAt) > nowMs ? 'open' : 'expired'
}

export function checkoutView(checkout: Checkout, nowMs: number) {
  const { id, purpose, credits, createdAt, expiresAt } = checkout
  const status = statusOf(checkout, nowMs)
  const url = status === 'open' && checkout.pendingAt === null ? checkout.url : null
  return { id, url, status, purpose, credits, created_at: createdAt, expires_at: expiresAt }
}

/** Where a license key is sealed to: the ciphertext opens in no other row. */
export function licensePlace({ tenantId, id }: Pick<Checkout, 'tenantId' | 'id'>): Place {
  return { tenant: tenantId, table: 'checkouts', column: 'license_sealed', row: id }
}
