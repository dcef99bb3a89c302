import type { Context } from '#features/context.ts'
import { ApiError } from '#errors/api-error.ts'
import { event } from '#features/events/record-event.ts'
import type { HandlerOf } from '#features/handler.ts'
import { futureTime } from '#http/request-time.ts'
import type { Claim } from '#http/idempotency/claim.ts'
import { ClaimTaken } from '#http/idempotency/run-claimed.ts'
import { findAnswer } from '#http/idempotency/store.ts'
import { hashCredential, newAccountId, newCredential } from '#crypto/random.ts'
import { issuerAccount, transactionId } from '../ledger/movement.ts'
import { shortOfCredit } from '../short-of-credit.ts'
import { findPayer, type CodeAccount } from '../ledger/store.ts'

export const grantCoupon: HandlerOf<'grantCoupon'> = async ({ ctx, claim, tenantId, body }) => {
  const { amount, memo } = body
  const requested = body.expires_at === undefined ? undefined : futureTime(body.expires_at, '/expires_at')
  const payer = body.wallet_code === undefined ? undefined : await walletOf(ctx, body.wallet_code)
  const from = payer?.account ?? issuerAccount(tenantId)
  const expiresAt = earlier(requested, payer?.expiresAt ?? undefined)
  const coupon = newCredential('coupon')
  const id = transactionId('grant', claim.scope, claim.keyHash.toString('base64'))
  const answer = { status: 201 as const, data: { coupon, amount, expires_at: expiresAt ?? null } }
  const outcome = await ctx.ledger.add({
    type: 'transfer',
    id,
    kind: 'grant',
    from,
    to: { tenantId, id: newAccountId() },
    amountCredits: amount,
    actor: tenantId,
    ...(memo === undefined ? {} : { memo }),
    opens: { kind: 'coupon', codeHash: hashCredential(coupon), ...(expiresAt ? { expiresAt } : {}) },
    claim: { ...claim, answer: claim.seal(answer) },
    event: event(tenantId, 'coupon.granted', {
      transaction_id: id,
      amount,
      source: sourceOf(payer),
      expires_at: expiresAt ?? null,
    }),
  })
  if (outcome === 'tenant_suspended') throw new ApiError(outcome)
  if (outcome === 'insufficient') throw shortOfCredit('grant', amount, payer ? 'the code' : "the issuer's balance")
  if (outcome === 'claim_taken' || outcome === 'repeated') throw await repeatOf(ctx, claim)
  return answer
}

function sourceOf(payer: CodeAccount | undefined) {
  if (!payer) return 'issuer'
  return payer.kind === 'coupon' ? 'coupon' : 'wallet'
}

async function walletOf(ctx: Context, code: string): Promise<CodeAccount> {
  const payer = await findPayer(ctx.db, code)
  if (!payer)
    throw new ApiError('not_found', { message: 'There is no wallet under this code: it is mistyped, unknown, expired or spent.' })
  return payer
}

/** A coupon expires no later than the coupon that pays for it: else a grant to oneself would extend the expiry. */
function earlier(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return Date.parse(a) < Date.parse(b) ? a : b
}

/**
 * The Idempotency-Key moved credits before. While its answer is kept this is a retry to replay; later it must not move
 * them again.
 */
async function repeatOf(ctx: Context, claim: Pick<Claim, 'scope' | 'keyHash'>): Promise<Error> {
  if (await findAnswer(ctx.db, claim)) return new ClaimTaken()
  return new ApiError('idempotency_key_reused', {
    message: 'This Idempotency-Key granted a coupon before, and that answer is no longer kept. Use a new key for a new grant.',
  })
}
