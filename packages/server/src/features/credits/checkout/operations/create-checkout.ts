import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { claimedTransaction } from '#http/idempotency/claimed-transaction.ts'
import { assertUnanswered } from '#http/idempotency/run-claimed.ts'
import { checkoutIdFor } from '../checkout-id.ts'
import { priceOf } from '../price.ts'
import { returnAddress, withCheckoutId } from '../return-address.ts'
import { insertCheckout } from '../store.ts'

/** The provider first, holding no connection while it is waited for, and then the row, the claim and the answer in one transaction. */
export const createCheckout: HandlerOf<'createCheckout'> = async ({ ctx, claim, tenantId, key, body }) => {
  await assertUnanswered(ctx.db, claim)
  const { purpose, credits } = body
  if (purpose === 'prefund' && !key.roles.includes('issuer')) throw new ApiError('issuer_role_required')
  const successUrl = returnAddress(body.success_url, '/success_url')
  const cancelUrl = returnAddress(body.cancel_url, '/cancel_url')
  const { config, payments } = ctx
  const amount = priceOf(credits, config)
  if (!payments) throw notConfigured()

  const id = await checkoutIdFor(ctx.db, tenantId, claim)
  const payment = await payments.createPayment({
    checkoutId: id,
    purpose,
    credits,
    amount,
    currency: config.currency,
    successUrl: withCheckoutId(successUrl, id),
    cancelUrl,
  })
  const { provider } = payments
  return claimedTransaction(ctx.db, claim, async (tx) => {
    await insertCheckout(tx, { tenantId, id, purpose, credits, provider, ...payment, successUrl, cancelUrl })
    return { status: 201, data: { id, url: payment.url, status: 'open' } }
  })
}

function notConfigured(): ApiError {
  return new ApiError('unavailable', {
    message: 'This installation sells nothing yet: whoever runs it has to set STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET.',
    retryAfterSeconds: 60,
  })
}
