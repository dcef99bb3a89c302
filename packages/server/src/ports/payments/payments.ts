import type { IncomingHttpHeaders } from 'node:http'

/** A payment to be made: the goods, the price, and where the buyer returns to. */
export interface PaymentRequest {
  /** Also the idempotency key at the provider: a repeat must have the same values. */
  checkoutId: string
  credits: number
  purpose: 'license_key' | 'prefund'
  /** In the currency's smallest unit. */
  amount: number
  /** ISO 4217, lower case. */
  currency: string
  successUrl: string
  cancelUrl: string
}

export interface Payment {
  /** The address of the payment page. */
  url: string
  /** The provider's id of the payment. */
  reference: string
  /** RFC 3339. The payment can be made until then. */
  expiresAt: string
}

/**
 * A provider's report about a payment. pending: the buyer is done, and the money is on its way. Events arrive in any
 * order and may be repeated.
 */
export interface PaymentEvent {
  type: 'paid' | 'pending' | 'expired' | 'failed'
  provider: PaymentProvider
  checkoutId: string
  reference: string
  /** Of a payment that was made: the provider's id of it, and the amount. null: nothing was to be paid. */
  payment?: { id: string; amount: number } | null
}

/**
 * A provider's report that money went back, or that a dispute was won and its money came back to the seller
 * (reinstatement). `amount` is all that was refunded so far, or all that this dispute moved this way, in the currency's
 * smallest unit, so a repeat or an older report changes nothing. A payment may have several disputes.
 */
export type PaymentReversal = ReturnedPayment & ({ type: 'refund' } | { type: 'dispute' | 'reinstatement'; dispute: string })

interface ReturnedPayment {
  provider: PaymentProvider
  /** The provider's id of the payment. */
  payment: string
  /** The checkout, if the report names it. The provider may send the report before that of the payment itself. */
  checkoutId?: string
  amount: number
}

export type PaymentProvider = 'stripe' | 'test'

/** A payment provider. */
export interface Payments {
  readonly provider: PaymentProvider
  /** Throws an ApiError: invalid_request if the provider rejects the amount, else unavailable. */
  createPayment(request: PaymentRequest): Promise<Payment>
  /**
   * Parses a notification of the provider. Returns undefined if it does not concern this installation. Throws
   * InvalidNotification if its signature is not valid, or too old. Absent for a provider without notifications.
   */
  readNotification?: (rawBody: Buffer, headers: IncomingHttpHeaders) => PaymentEvent | PaymentReversal | undefined
  /**
   * The checkout of a payment, also if the payment was not reported yet. undefined: it is of other software, or of an
   * installation that shares the account. Throws an ApiError: unavailable. Absent for a provider without notifications.
   */
  findCheckoutId?: (payment: string) => Promise<string | undefined>
}

export class InvalidNotification extends Error {}
