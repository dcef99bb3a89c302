import type { Tx } from '#db/database.ts'
import { ApiError, invalid } from '#errors/api-error.ts'
import { postMovements } from '#features/credits/ledger/ledger.ts'
import { accountKey } from '#features/credits/ledger/movement.ts'
import type { HandlerOf } from '#features/handler.ts'
import { claimedTransaction } from '#http/idempotency/claimed-transaction.ts'
import { assertUnanswered } from '#http/idempotency/run-claimed.ts'
import { type BudgetShare, holdOfShare, maxShares } from '../budget.ts'
import { updateToppedUp } from '../budget-store.ts'
import { shortOfCredit } from '#features/credits/short-of-credit.ts'
import { payerOf } from '../launch.ts'
import { isActive, statusView, type Session } from '../session.ts'
import { findSessionForUpdate } from '../store.ts'

/** The session is locked before the accounts, as at its end, so that the two cannot deadlock. */
export const topUpSession: HandlerOf<'topUpSession'> = async ({ ctx, claim, params, session, body }) => {
  if (params.id !== session.id) throw new ApiError('not_found')
  if (session.heldBy === 'agent')
    throw new ApiError('not_authorized', { message: 'Only the launcher’s control token tops up a session.' })
  await assertUnanswered(ctx.db, claim)
  const share = { payer: await payerOf(ctx, body.coupon), credits: body.budget_credits }
  return claimedTransaction(ctx.db.lane(accountKey(share.payer)), claim, async (tx) => ({
    status: 200 as const,
    data: statusView(await topUp(tx, session, share)),
  }))
}

async function topUp(tx: Tx, { tenantId, id }: Session, share: BudgetShare): Promise<Session> {
  const session = await findSessionForUpdate(tx, tenantId, id)
  if (!session || !isActive(session.status) || session.isOver)
    throw new ApiError('state_conflict', { message: 'The session has ended.' })
  const { budget, budgetShares } = session
  if (!budget) throw new ApiError('state_conflict', { message: 'The session was launched without a budget.' })
  if (budgetShares.length >= maxShares)
    throw new ApiError('state_conflict', { message: `A session takes at most ${maxShares - 1} top-ups.` })
  const missing = budget.usedCredits - budget.heldCredits
  if (share.credits <= missing)
    throw invalid('/budget_credits', `must be more than ${missing}, which the last answer used beyond the budget`)
  const [outcome] = await postMovements(tx, [holdOfShare(session, share, budgetShares.length)])
  if (outcome !== 'posted') throw shortOfCredit('top-up', share.credits)
  return updateToppedUp(tx, session, share)
}
