import { hash } from 'node:crypto'
import { makeId } from '@atrium/contract/tokens'
import { newId } from '#crypto/random.ts'
import type { Db } from '#db/database.ts'
import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import type { Claim } from '#http/idempotency/claim.ts'
import { claimedTransaction } from '#http/idempotency/claimed-transaction.ts'
import { assertUnanswered } from '#http/idempotency/run-claimed.ts'
import { priceOf } from '../checkout.ts'
import { returnAddress, withCheckoutId } from '../return-address.ts'
import { findCheckout, insertCheckout } from '../store.ts'

/**
 * Calls the provider first, without a database connection during the call. Row, claim and answer then commit in one
 * transaction.
 */
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
    message: 'This installation sells nothing yet: its operator has to set STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET.',
    retryAfterSeconds: 60,
  })
}

/**
 * The id of the new checkout. It derives from the request's claim, so that a repeat after a crash, which finds no row,
 * meets the same payment at the provider. The seed includes the body, because after an error the key may be used with
 * another body. Once the first checkout exists and its answer is no longer kept, the key makes a new one.
 */
async function checkoutIdFor(db: Db, tenantId: string, claim: Claim<never> | undefined): Promise<string> {
  if (!claim) return newId('checkout')
  const id = derivedId(claim.seed())
  return (await findCheckout(db, tenantId, id)) ? newId('checkout') : id
}

function derivedId(seed: Buffer): string {
  let round = 0
  return makeId('checkout', (length) =>
    hash('sha512', Buffer.concat([seed, Buffer.from([round++])]), 'buffer').subarray(0, length),
  )
}
