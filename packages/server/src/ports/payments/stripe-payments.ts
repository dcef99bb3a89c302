import { codeOf, fieldOf, messageOf } from '#errors/caught.ts'
import type { IncomingHttpHeaders } from 'node:http'
import type { Stripe } from 'stripe'
import { isId } from '@atrium/contract/tokens'
import { ApiError, invalid } from '#errors/api-error.ts'
import {
  InvalidNotification,
  type Payment,
  type PaymentEvent,
  type PaymentReversal,
  type PaymentRequest,
  type Payments,
} from './payments.ts'

interface StripeOptions {
  secretKey: string
  webhookSecret: string
  /** Another address of Stripe's API, for tests: plain http on loopback. */
  apiUrl: string | undefined
}

// In total shorter than the timeouts of callers and of a server that stops.
const attemptMs = 4_000
const retries = 1
const timeoutMs = 9_000

/** Stripe Checkout. The SDK is loaded here, so that an installation without a key does not load it. */
export async function openStripePayments({ secretKey, webhookSecret, apiUrl }: StripeOptions): Promise<Payments> {
  const { default: Stripe } = await import('stripe')
  const stripe = new Stripe(secretKey, {
    timeout: attemptMs,
    maxNetworkRetries: retries,
    // Telemetry would write a file into the home folder and report about this machine.
    telemetry: false,
    ...(apiUrl === undefined ? {} : addressOf(new URL(apiUrl))),
  })
  return {
    provider: 'stripe',
    createPayment: (request) => createPayment(stripe, request),
    readNotification: (rawBody, headers) => readNotification(stripe, webhookSecret, rawBody, headers),
    findCheckoutId: (payment) => findCheckoutId(stripe, payment),
  }
}

function addressOf({ hostname, port }: URL) {
  return { protocol: 'http' as const, host: hostname.replace(/^\[|\]$/g, ''), port: port || '80' }
}

async function createPayment(stripe: Stripe, request: PaymentRequest): Promise<Payment> {
  try {
    // expires_at is left to Stripe (24 hours): a time of this server would differ in a repeat, which Stripe rejects
    // under the same key.
    const creation = stripe.checkout.sessions.create(sessionParams(request), { idempotencyKey: request.checkoutId })
    const { id, url, expires_at: expiresAt } = await withTimeout(creation)
    if (url === null) throw new Error('Stripe made a session without an address')
    return { url, reference: id, expiresAt: new Date(expiresAt * 1_000).toISOString() }
  } catch (error) {
    throw refusalOf(error)
  }
}

function sessionParams(request: PaymentRequest): Stripe.Checkout.SessionCreateParams {
  const { checkoutId, credits, purpose, amount, currency, successUrl, cancelUrl } = request
  const name = `${credits.toLocaleString('en')} ${credits === 1 ? 'credit' : 'credits'}`
  const description = purpose === 'license_key' ? 'A license key that mints a wallet' : 'For the issuer’s balance'
  return {
    mode: 'payment',
    client_reference_id: checkoutId,
    metadata: { checkout_id: checkoutId },
    // Of the payment, from which its charge gets it.
    payment_intent_data: { metadata: { checkout_id: checkoutId } },
    line_items: [{ quantity: 1, price_data: { currency, unit_amount: amount, product_data: { name, description } } }],
    success_url: successUrl,
    cancel_url: cancelUrl,
  }
}

/**
 * Reads the checkout off Stripe's session of the payment. A restricted key that may write sessions may also read them,
 * but not payments, whose metadata has the checkout too.
 */
async function findCheckoutId(stripe: Stripe, payment: string): Promise<string | undefined> {
  try {
    const { data } = await withTimeout(stripe.checkout.sessions.list({ payment_intent: payment, limit: 1 }))
    return checkoutIdOf(data[0]?.client_reference_id)
  } catch (error) {
    // Of a connected account, or of Stripe's other mode.
    if (codeOf(error) === 'resource_missing') return undefined
    const cause = new Error(`the checkout of a payment was not found: ${factsOf(error)}`)
    throw new ApiError('unavailable', { message: 'The payment provider cannot be asked for a payment.', cause })
  }
}

/** undefined: of other software that uses the same Stripe account. */
function checkoutIdOf(reference: string | null | undefined): string | undefined {
  return typeof reference === 'string' && isId('checkout', reference) ? reference : undefined
}

/**
 * Limits the wait: the SDK waits as long as Stripe asks, up to a minute. A call that timed out here may still
 * succeed, and a repeat finds it.
 */
async function withTimeout<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Stripe did not answer within ${timeoutMs} ms`)), timeoutMs)
  })
  promise.catch(() => undefined)
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

const amountCodes = new Set(['amount_too_small', 'amount_too_large'])

function refusalOf(error: unknown): ApiError {
  const code = codeOf(error)
  if (code !== undefined && amountCodes.has(code)) {
    return invalid('/credits', code === 'amount_too_small' ? 'cost less than a payment takes' : 'cost more than a payment takes')
  }
  return new ApiError('unavailable', {
    message: 'The payment provider cannot be reached, or refuses this installation. Nothing was sold.',
    retryAfterSeconds: 5,
    cause: new Error(`no payment was made: ${factsOf(error)}`),
  })
}

/** Only these fields of Stripe's error: the rest contains the request and its answer, and would be logged. */
function factsOf(error: unknown): string {
  const told = ['type', 'code', 'param', 'statusCode', 'requestId'].map((name) => fieldOf(error, name))
  return told[0] === undefined ? messageOf(error) : told.filter((fact) => fact !== undefined).join(' ')
}

function readNotification(
  stripe: Stripe,
  webhookSecret: string,
  rawBody: Buffer,
  headers: IncomingHttpHeaders,
): PaymentEvent | PaymentReversal | undefined {
  const signature = headers['stripe-signature']
  let event: Stripe.Event
  try {
    event = stripe.webhooks.constructEvent(rawBody, typeof signature === 'string' ? signature : '', webhookSecret)
  } catch (error) {
    throw new InvalidNotification('the signature does not verify, or is older than five minutes', { cause: error })
  }
  const reversal = reversalOf(event)
  if (reversal) return reversal
  const type = eventType(event)
  if (!type) return undefined
  const session = event.data.object as Stripe.Checkout.Session
  const { id: reference, amount_total: amount } = session
  const checkoutId = checkoutIdOf(session.client_reference_id)
  if (checkoutId === undefined) return undefined
  const id = idOf(session.payment_intent)
  return { type, provider: 'stripe', checkoutId, reference, payment: id !== undefined && amount ? { id, amount } : null }
}

/** Stripe names the payment intent or, where it was asked to, contains it. */
function idOf(object: string | { id: string } | null | undefined): string | undefined {
  return typeof object === 'string' ? object : object?.id
}

function reversalOf(event: Stripe.Event): PaymentReversal | undefined {
  if (event.type === 'charge.refunded') {
    const { payment_intent: intent, amount_refunded: amount, metadata } = event.data.object
    return reversal({ type: 'refund' }, idOf(intent), amount, metadata?.['checkout_id'])
  }
  if (event.type === 'charge.dispute.funds_reinstated') {
    const { id: dispute, payment_intent: intent, amount, status } = event.data.object
    // Of a dispute that is lost, Stripe returns what was refunded before, and reports it with the whole amount. These
    // credits stay taken back for the refund.
    return status === 'won' ? reversal({ type: 'reinstatement', dispute }, idOf(intent), amount) : undefined
  }
  if (event.type !== 'charge.dispute.created' && event.type !== 'charge.dispute.funds_withdrawn') return undefined
  const { id: dispute, payment_intent: intent, amount, status } = event.data.object
  // An inquiry moves no money. If it becomes a dispute, the withdrawal is reported.
  return status.startsWith('warning_') ? undefined : reversal({ type: 'dispute', dispute }, idOf(intent), amount)
}

function reversal(
  kind: { type: 'refund' } | { type: 'dispute' | 'reinstatement'; dispute: string },
  payment: string | undefined,
  amount: number,
  reference?: string,
): PaymentReversal | undefined {
  if (payment === undefined) return undefined
  const checkoutId = checkoutIdOf(reference)
  return { ...kind, provider: 'stripe', payment, amount, ...(checkoutId === undefined ? {} : { checkoutId }) }
}

function eventType(event: Stripe.Event): PaymentEvent['type'] | undefined {
  if (event.type === 'checkout.session.completed') return event.data.object.payment_status === 'unpaid' ? 'pending' : 'paid'
  if (event.type === 'checkout.session.async_payment_succeeded') return 'paid'
  if (event.type === 'checkout.session.async_payment_failed') return 'failed'
  if (event.type === 'checkout.session.expired') return 'expired'
  return undefined
}
