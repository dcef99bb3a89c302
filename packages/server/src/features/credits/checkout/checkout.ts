import { maxPayment } from '@atrium/contract/checkout'
import { isolated, type PageText } from '@atrium/web/page-text/page-text'
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
  /** The provider's id of the payment, and its amount in the currency's smallest unit; null where nothing was paid. */
  payment: string | null
  paidAmount: number | null
  /** What went back to the buyer so far, and the credits that were taken back or lost for it. */
  refundedAmount: number
  disputedAmount: number
  /** What of disputedAmount came back to the seller, because the dispute was won. */
  reinstatedAmount: number
  /** The parts of disputedAmount and reinstatedAmount, by the provider's id of the dispute. */
  disputes: Readonly<Record<string, Dispute>>
  returnedCredits: number
  createdAt: string
  expiresAt: string
  /** The buyer has finished, and the money is on its way. */
  pendingAt: string | null
  /** The provider has ended the payment without money. */
  endedAt: string | null
  paidAt: string | null
  /** When the row was read, by the database's clock, which decides what has expired. */
  readAt: string
}

export interface Dispute {
  amount: number
  reinstated: number
}

export type CheckoutStatus = 'open' | 'paid' | 'expired'

/** Money that has arrived counts, however late. Money on its way keeps a checkout open past its expiry. */
export function statusOf(checkout: Checkout): CheckoutStatus {
  if (checkout.paidAt !== null) return 'paid'
  if (checkout.endedAt !== null) return 'expired'
  return checkout.pendingAt !== null || Date.parse(checkout.expiresAt) > Date.parse(checkout.readAt) ? 'open' : 'expired'
}

export function checkoutView(checkout: Checkout) {
  const { id, purpose, credits, createdAt, expiresAt } = checkout
  const status = statusOf(checkout)
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
export function priceText(amount: number, currency: string, text: PageText): string {
  const format = new Intl.NumberFormat(text.language, { style: 'currency', currency })
  const parts = format.formatToParts(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2))
  return parts.map(({ type, value }) => (type === 'currency' ? isolated(text, value) : value)).join('')
}

const maxLength = 2_000

/**
 * The address to which a buyer's browser returns. Plain http is allowed for every host, because only the browser
 * requests it. The host is limited to what a Content-Security-Policy can name: a URL's host may contain a semicolon or
 * a comma.
 */
export function returnAddress(text: string, path: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !['http:', 'https:'].includes(url.protocol))
    throw invalid(path, 'must be an address that starts with https:// or http://')
  if (url.username !== '' || url.password !== '') throw invalid(path, 'may not contain a user name or password')
  if (!/^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])$/.test(url.hostname)) throw invalid(path, 'has a host name that is not valid')
  if (url.href.length > maxLength) throw invalid(path, `may have at most ${maxLength} characters, as a browser would send it`)
  return url.href
}

/** Adds the checkout's id to the query, and keeps the rest of the address. */
export function withCheckoutId(address: string, checkoutId: string): string {
  const url = new URL(address)
  url.search += `${url.search === '' ? '?' : '&'}checkout_id=${checkoutId}`
  return url.href
}

/** The address in a form-action policy: its origin, or its scheme for an IPv6 literal, which a policy cannot name. */
export function formTarget(address: string): string {
  const { origin, protocol, hostname } = new URL(address)
  return hostname.startsWith('[') ? protocol : origin
}
