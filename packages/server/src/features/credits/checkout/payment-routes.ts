import { bodyOf } from '#http/parse.ts'
import type { FastifyInstance, onRequestHookHandler } from 'fastify'
import { ApiError, invalid } from '#errors/api-error.ts'
import type { Context } from '#features/context.ts'
import { InvalidNotification, type PaymentEvent, type PaymentReversal, type Payments } from '#ports/payments/payments.ts'
import type { Checkout } from './checkout.ts'
import { completeCheckout } from './operations.ts'
import { reverseCheckout } from './reverse-checkout.ts'
import { findCheckoutById, findCheckoutByPayment } from './store.ts'
import { addTestPage } from './test-page.ts'

/**
 * Adds the payment routes that are no operations of the API: the provider's webhook, or the built-in test page.
 * `limitStrangers` limits the test page's visitors by address.
 */
export function addPaymentRoutes(app: FastifyInstance, ctx: Context, limitStrangers: onRequestHookHandler): void {
  const { payments } = ctx
  if (payments?.readNotification) addStripeWebhook(app, ctx, payments.readNotification)
  if (payments?.provider === 'test') addTestPage(app, ctx, limitStrangers)
}

const noBody = Buffer.alloc(0)

/**
 * Receives Stripe's notifications. The signature over the raw bytes authenticates Stripe, so that no limit by address
 * delays a rush of buyers. Any fault here answers with an error: Stripe then repeats the notification, for three days.
 */
function addStripeWebhook(app: FastifyInstance, ctx: Context, read: NonNullable<Payments['readNotification']>): void {
  app.post('/stripe/webhook', async (req, reply) => {
    const event = readEvent(() => read(bodyOf(req) ?? noBody, req.headers))
    if (event && 'reference' in event) await applyEvent(ctx, event)
    else if (event) await applyReversal(ctx, event)
    return reply.send({ received: true })
  })
}

type Notification = PaymentEvent | PaymentReversal | undefined

function readEvent(read: () => Notification): Notification {
  try {
    return read()
  } catch (error) {
    if (error instanceof InvalidNotification) throw invalid('Stripe-Signature', error.message)
    throw error
  }
}

async function applyEvent(ctx: Context, event: PaymentEvent): Promise<void> {
  const checkout = await findCheckoutById(ctx.db, event.checkoutId)
  const known = checkout && (await ctx.db.transaction((tx) => completeCheckout(ctx, tx, checkout.tenantId, event)))
  if (known) return
  const { type, checkoutId, reference } = event
  // Another installation may share the Stripe account. If none does, an operator must look after the payment.
  ctx.log[type === 'paid' ? 'error' : 'info']({ checkoutId, reference, type }, 'a payment belongs to no checkout here')
}

async function applyReversal(ctx: Context, reversal: PaymentReversal): Promise<void> {
  const { type, payment, provider } = reversal
  const find = () => findCheckoutByPayment(ctx.db, payment, provider)
  const checkout = await find()
  if (checkout) return reverse(ctx, checkout, reversal)
  const named = await findNamed(ctx, reversal)
  // Again, because the payment may have been recorded before the named checkout was read.
  const recorded = named && (await find())
  if (recorded) return reverse(ctx, recorded, reversal)
  // Stripe sends it again, until the payment is here.
  if (named?.paidAt === null) throw new ApiError('unavailable', { message: 'The payment was not reported yet.' })
  // Other software may share the Stripe account. A payment from before this release has no id here.
  ctx.log.warn({ payment, type }, 'money that went back belongs to no checkout here')
}

/** The checkout that the report names. A dispute names none: the provider is asked for it. */
async function findNamed({ db, payments }: Context, { checkoutId, payment }: PaymentReversal): Promise<Checkout | undefined> {
  const id = checkoutId ?? (await payments?.findCheckoutId?.(payment))
  return id === undefined ? undefined : findCheckoutById(db, id)
}

async function reverse(ctx: Context, checkout: Pick<Checkout, 'tenantId' | 'id'>, reversal: PaymentReversal): Promise<void> {
  const known = await ctx.db.transaction((tx) => reverseCheckout(tx, checkout, reversal))
  if (known) return
  // An operator or the seller must grant the credits.
  const about = { payment: reversal.payment, checkout: checkout.id }
  ctx.log.warn(about, 'a won dispute gave no credits back: an earlier release took them')
}
