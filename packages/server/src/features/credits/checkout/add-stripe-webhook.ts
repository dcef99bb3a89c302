import type { FastifyInstance } from 'fastify'
import type { Context } from '#features/context.ts'
import { invalid } from '#errors/api-error.ts'
import { InvalidNotification, type PaymentEvent, type Payments } from '#ports/payments/payments.ts'
import { completeCheckout } from './complete-checkout.ts'
import { findCheckoutById } from './store.ts'

const noBody = Buffer.alloc(0)

/**
 * Where Stripe tells about payments. The signature over the bytes as they came says who it is; so nothing is counted against the address,
 * and a rush of buyers is not held up. Any fault here is an error answer: Stripe then tells it again, for three days.
 */
export function addStripeWebhook(app: FastifyInstance, ctx: Context, read: NonNullable<Payments['readNotification']>): void {
  app.post('/stripe/webhook', async (req, reply) => {
    const event = readEvent(() => read((req.body as Buffer | undefined) ?? noBody, req.headers))
    if (event) await takeIn(ctx, event)
    return reply.send({ received: true })
  })
}

function readEvent(read: () => PaymentEvent | undefined): PaymentEvent | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof InvalidNotification) throw invalid('Stripe-Signature', error.message)
    throw error
  }
}

async function takeIn(ctx: Context, event: PaymentEvent): Promise<void> {
  const checkout = await findCheckoutById(ctx.db, event.checkoutId)
  const known = checkout && (await ctx.db.transaction((tx) => completeCheckout(ctx, tx, checkout.tenantId, event)))
  if (known) return
  const { type, checkoutId, reference } = event
  // Another installation may share the Stripe account. If none does, somebody's money wants looking after.
  ctx.log[type === 'paid' ? 'error' : 'info']({ checkoutId, reference, type }, 'a payment belongs to no checkout here')
}
