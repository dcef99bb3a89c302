import { isCredential } from '@atrium/contract/tokens'
import { type RecipientJwk, assertRecipient, recipientThumbprint, sealTo } from '#crypto/jwe.ts'
import { hashCredential, newAccountId, newCredential } from '#crypto/random.ts'
import { ApiError, invalid } from '#errors/api-error.ts'
import type { Context } from '#features/context.ts'
import { event } from '#features/events/record-event.ts'
import type { HandlerOf } from '#features/handler.ts'
import { decodeToken, verifyToken } from '../blind-token.ts'
import { eraseLicense } from '../checkout/store.ts'
import { type AccountRef, issuerAccount, redemptionId, transactionId } from '../ledger/movement.ts'
import { findBalance, findCodeAccount, findPayer, findRecovery, isPosted } from '../ledger/store.ts'
import { readTimeQuery } from '#http/time-page.ts'
import { listMovements as listRows } from '../ledger/movements-store.ts'

/**
 * The account that pays, and the movement's id, which is the same for every attempt to redeem the same license or
 * token.
 */
interface Redemption {
  from: AccountRef
  id: string
  amountCredits: number
}

export const redeemWallet: HandlerOf<'redeemWallet'> = async ({ ctx, tenantId, body }) => {
  const recoveryKey = body.recovery_key
  if (recoveryKey) await assertRecipient(recoveryKey, '/recovery_key')
  const isLicense = 'license_key' in body
  const { from, id, amountCredits } = isLicense ? await readLicense(ctx, body.license_key) : await readToken(ctx, body)
  // A redeemed license is empty: nothing can move, and the first redemption decides the answer.
  if (amountCredits === 0) throw await alreadySpent(ctx, from, id, recoveryKey)

  const walletCode = newCredential('walletCode')
  const recovery = recoveryKey && {
    thumbprint: await recipientThumbprint(recoveryKey),
    sealedCode: await sealTo(recoveryKey, walletCode),
  }
  const outcome = await ctx.ledger.add({
    type: 'transfer',
    id,
    kind: 'redemption',
    from,
    to: { tenantId, id: newAccountId() },
    amountCredits,
    // A license is redeemed once, so that credits that are left there, or come there later, could never be spent.
    isWholeBalance: isLicense,
    actor: tenantId,
    opens: { kind: 'wallet', codeHash: hashCredential(walletCode) },
    ...(recovery ? { recovery } : {}),
    event: event(tenantId, 'wallet.redeemed', {
      transaction_id: id,
      method: isLicense ? 'license_key' : 'token',
      epoch: 'epoch' in body ? body.epoch : null,
      amount: amountCredits,
    }),
  })
  if (outcome === 'tenant_suspended') throw new ApiError(outcome)
  if (outcome === 'repeated') throw await alreadySpent(ctx, from, id, recoveryKey)
  // Since the license was read, a refund took credits back, or a won dispute gave some back.
  if (outcome === 'insufficient' && isLicense) throw new ApiError('unavailable', { retryAfterSeconds: 1 })
  // Only a token can lack cover: a license account holds its own credits.
  if (outcome !== 'posted') {
    throw new ApiError('insufficient_credit', {
      message: "The issuer's balance does not cover this token now. It was not spent: try again once the balance is funded.",
    })
  }
  if (isLicense) await forgetLicense(ctx, from)
  return { status: 201, data: { wallet_code: walletCode, balance: amountCredits } }
}

/**
 * The credits have moved, so that a failure here does not fail the redemption; the next read of the checkout erases
 * the key.
 */
async function forgetLicense({ db, log }: Context, account: AccountRef): Promise<void> {
  try {
    await eraseLicense(db, account)
  } catch (error) {
    log.error({ err: error }, 'cannot erase a redeemed license key yet')
  }
}

async function readLicense(ctx: Context, licenseKey: string): Promise<Redemption> {
  const license = isCredential('licenseKey', licenseKey) ? await findCodeAccount(ctx.db, licenseKey) : undefined
  if (license?.kind !== 'license') throw new ApiError('not_found', { message: 'There is no such license key.' })
  return {
    from: license.account,
    id: redemptionId(license.account),
    amountCredits: license.balanceCredits,
  }
}

async function readToken(ctx: Context, body: { token: string; sig: string; epoch: string }): Promise<Redemption> {
  const token = decodeToken(body.token, '/token')
  const sig = decodeToken(body.sig, '/sig')
  const epoch = await ctx.epochs.find(body.epoch)
  if (!epoch) throw new ApiError('not_found', { message: 'There is no such epoch.' })
  if (!verifyToken(epoch.key, token, sig)) throw invalid('/sig', "does not verify under the epoch's key")
  // From the decoded bytes, so that another encoding of the token is no other token.
  const id = transactionId('redeem-token', epoch.id, token.toString('base64'))
  const redemption = { from: issuerAccount(epoch.tenantId), id, amountCredits: epoch.valueCredits }
  const expired = epoch.endsAtMs !== undefined && epoch.endsAtMs <= performance.now()
  if (!expired) return redemption
  // A token that was redeemed in time may still recover its wallet.
  if (await isPosted(ctx.db, redemption.from.tenantId, id)) return { ...redemption, amountCredits: 0 }
  throw invalid('/epoch', 'has expired')
}

/**
 * Where the caller sends the recovery key of the first redemption, the error carries the wallet code sealed to that
 * key.
 */
async function alreadySpent(ctx: Context, from: AccountRef, id: string, recoveryKey?: RecipientJwk): Promise<ApiError> {
  const recovery = recoveryKey && (await findRecovery(ctx.db, from.tenantId, id))
  if (!recovery || recovery.thumbprint !== (await recipientThumbprint(recoveryKey))) return new ApiError('already_spent')
  const message = 'The wallet code of the first redemption, sealed to this key.'
  return new ApiError('already_spent', { details: [{ path: '/recovery_key', message, sealed: recovery.sealedCode }] })
}

export const lookUpWallet: HandlerOf<'lookUpWallet'> = async ({ ctx, body }) => {
  const payer = await findPayer(ctx.db, body.wallet_code)
  // A spent code and an unknown one give the same answer, so that nobody learns which codes were once valid.
  if (!payer || (payer.balanceCredits === 0 && payer.heldCredits === 0))
    throw new ApiError('not_found', {
      message: 'There are no credits under this code: it is mistyped, unknown, expired or spent.',
    })
  return { status: 200, data: { balance: payer.balanceCredits, held: payer.heldCredits, currency: 'credits' } }
}

export const listMovements: HandlerOf<'listMovements'> = async ({ ctx, tenantId, query }) => {
  const { range, limit, cursorAfter } = readTimeQuery(`movements:${tenantId}`, query)
  const { movements, last } = await listRows(ctx.db, tenantId, { kind: query.kind, range, limit })
  return {
    status: 200,
    data: movements.map((one) => ({
      id: one.id,
      kind: one.kind,
      from: one.fromKind,
      to: one.toKind,
      amount: one.amountCredits,
      memo: one.memo,
      created_at: one.createdAt,
    })),
    nextCursor: cursorAfter(last),
  }
}

export const getIssuerBalance: HandlerOf<'getIssuerBalance'> = async ({ ctx, tenantId }) => ({
  status: 200,
  data: { balance: await findBalance(ctx.db, issuerAccount(tenantId)), currency: 'credits' },
})
