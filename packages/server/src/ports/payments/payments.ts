import type { IncomingHttpHeaders } from 'node:http'

/** A payment to be made: what is sold, for how much, and where the buyer goes afterwards. */
export interface PaymentRequest {
  /** Also the key under which a repeat meets the same payment: the rest must then be the same. */
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
  /** Where the buyer pays. */
  url: string
  /** The provider's own id of it. */
  reference: string
  /** RFC 3339. Until then it can be paid. */
  expiresAt: string
}

/**
 * What a provider tells about a payment. pending: the buyer is done, the money is on its way. Events come in any
 * order, and again.
 */
export interface PaymentEvent {
  type: 'paid' | 'pending' | 'expired' | 'failed'
  provider: PaymentProvider
  checkoutId: string
  reference: string
}

export type PaymentProvider = 'stripe' | 'test'

/** Whoever takes the money. */
export interface Payments {
  readonly provider: PaymentProvider
  /** Throws an ApiError: invalid_request where the provider refuses the amount, else unavailable. */
  createPayment(request: PaymentRequest): Promise<Payment>
  /**
   * Reads what the provider sent: undefined when it is about nothing of ours. Throws InvalidNotification when the
   * provider did not send exactly this, or not lately. Absent: this provider sends nothing.
   */
  readNotification?: (rawBody: Buffer, headers: IncomingHttpHeaders) => PaymentEvent | undefined
}

export class InvalidNotification extends Error {}
