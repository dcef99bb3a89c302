import { isCredential } from '@atrium/contract/tokens'
import type { Context } from '#features/context.ts'
import { ApiError, invalid } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { hashCredential, newAccountId, newCredential } from '#crypto/random.ts'
import { assertRecipient, recipientThumbprint, sealTo, type RecipientJwk } from '#crypto/jwe.ts'
import { decodeToken, verifyToken } from '../blind-token.ts'
import { event } from '#features/events/record-event.ts'
import { eraseLicense } from '../checkout/store.ts'
import { issuerAccount, type AccountRef } from '../ledger/account.ts'
import { findBearer } from '../ledger/bearer.ts'
import { transactionId } from '../ledger/movement.ts'
import { findRecovery, isPosted } from '../ledger/recovery.ts'

/** What is redeemed: an account that pays, and the movement's id, which is the same for every try to redeem the same thing. */
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
  // A license that was redeemed is empty: there is nothing to move, but its trace tells the rest.
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
  if (outcome === 'repeated') throw await alreadySpent(ctx, from, id, recoveryKey)
  // Only a token can meet this: a license holds what it was sold for.
  if (outcome !== 'posted') {
    throw new ApiError('insufficient_credit', {
      message: "The issuer's balance does not cover this token now. It was not spent: try again once the balance is funded.",
    })
  }
  if (isLicense) await forgetLicense(ctx, from)
  return { status: 201, data: { wallet_code: walletCode, balance: amountCredits } }
}

/** The credits have moved: where this fails the answer is still good, and whoever asks for the checkout next erases the worthless key. */
async function forgetLicense({ db, log }: Context, account: AccountRef): Promise<void> {
  try {
    await eraseLicense(db, account)
  } catch (error) {
    log.error({ err: error }, 'a redeemed license key is not erased yet')
  }
}

async function readLicense(ctx: Context, licenseKey: string): Promise<Redemption> {
  const license = isCredential('licenseKey', licenseKey) ? await findBearer(ctx.db, licenseKey) : undefined
  if (license?.kind !== 'license') throw new ApiError('not_found', { message: 'There is no such license key.' })
  return {
    from: license.account,
    id: transactionId('redeem-license', license.account.tenantId, license.account.id),
    amountCredits: license.balanceCredits,
  }
}

async function readToken(ctx: Context, body: { token: string; sig: string; epoch: string }): Promise<Redemption> {
  const token = decodeToken(body.token, '/token')
  const sig = decodeToken(body.sig, '/sig')
  const epoch = await ctx.epochs.find(body.epoch)
  if (!epoch) throw new ApiError('not_found', { message: 'There is no such epoch.' })
  if (!verifyToken(epoch.key, token, sig)) throw invalid('/sig', "does not verify under the epoch's key")
  // From the decoded bytes: no other spelling of the token is another token.
  const id = transactionId('redeem-token', epoch.id, token.toString('base64'))
  const redemption = { from: issuerAccount(epoch.tenantId), id, amountCredits: epoch.valueCredits }
  const over = epoch.expiresAt !== undefined && Date.parse(epoch.expiresAt) <= Date.now()
  if (!over) return redemption
  // Whoever spent it in time may still find the wallet.
  if (await isPosted(ctx.db, redemption.from.tenantId, id)) return { ...redemption, amountCredits: 0 }
  throw invalid('/epoch', 'has expired')
}

/** With the recovery key of the first time, the error holds the wallet code for whoever owns that key. */
async function alreadySpent(ctx: Context, from: AccountRef, id: string, recoveryKey?: RecipientJwk): Promise<ApiError> {
  const recovery = recoveryKey && (await findRecovery(ctx.db, from.tenantId, id))
  if (!recovery || recovery.thumbprint !== (await recipientThumbprint(recoveryKey))) return new ApiError('already_spent')
  const message = 'The wallet code of the first redemption, sealed to this key.'
  return new ApiError('already_spent', { details: [{ path: '/recovery_key', message, sealed: recovery.sealedCode }] })
}
