import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { findPayer } from '../ledger/code-account-store.ts'

export const lookUpWallet: HandlerOf<'lookUpWallet'> = async ({ ctx, body }) => {
  const payer = await findPayer(ctx.db, body.wallet_code)
  // A spent code and an unknown one give the same answer, so that nobody learns which codes were once valid.
  if (!payer || (payer.balanceCredits === 0 && payer.heldCredits === 0))
    throw new ApiError('not_found', {
      message: 'There are no credits under this code: it is mistyped, unknown, expired or spent.',
    })
  return { status: 200, data: { balance: payer.balanceCredits, held: payer.heldCredits, currency: 'credits' } }
}
