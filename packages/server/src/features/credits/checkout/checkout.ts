import { maxPayment } from '@atrium/contract/checkout'
import type { Config } from '#config/config.ts'
import type { SealedRef } from '#crypto/vault/sealed-columns.ts'
import { invalid } from '#errors/api-error.ts'
import type { PaymentProvider } from '#ports/payments/payments.ts'

/** A sale of credits. Times are RFC 3339. */
export interface Checkout {
  tenantId: string
  id: string
  purpose: 'license_key' | 'prefund'
  credits: number
  provider: PaymentProvider
  /** The provider's id of the payment. */
  reference: string
  url: string
  successUrl: string
  cancelUrl: string
  /** The sealed license key, from the payment until the redemption. */
  licenseSealed: Buffer | null
  /** The account of the license's credits; null for sales before migration 0022. */
  licenseAccount: string | null
  createdAt: string
  expiresAt: string
  /** The buyer has finished, and the money is on its way. */
  pendingAt: string | null
  /** The provider has ended the payment without money. */
  endedAt: string | null
  paidAt: string | null
}

type CheckoutStatus = 'open' | 'paid' | 'expired'

/** Money that has arrived counts, however late. Money on its way keeps a checkout open past its expiry. */
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

/** Binds the sealed license key to its row. */
export function licenseRef({ tenantId, id }: Pick<Checkout, 'tenantId' | 'id'>): SealedRef {
  return { tenant: tenantId, table: 'checkouts', column: 'license_sealed', row: id }
}

/** The price of credits in the currency's smallest unit. */
export function priceOf(credits: number, { creditPriceCents }: Pick<Config, 'creditPriceCents'>): number {
  const amount = credits * creditPriceCents
  if (amount > maxPayment)
    throw invalid('/credits', `one payment carries at most ${Math.floor(maxPayment / creditPriceCents)} credits`)
  return amount
}

/** Formats 123 and usd as $1.23. Each currency has its own number of decimals. */
export function priceText(amount: number, currency: string): string {
  const format = new Intl.NumberFormat('en', { style: 'currency', currency })
  return format.format(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2))
}
