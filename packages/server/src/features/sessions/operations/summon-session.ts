import { isCredential } from '@atrium/contract/tokens'
import type { Context } from '#features/context.ts'
import { ApiError } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { claimedTransaction } from '#http/idempotency/claimed-transaction.ts'
import { assertUnanswered } from '#http/idempotency/run-claimed.ts'
import { hashCredential } from '#crypto/random.ts'
import { findLaunchable } from '#features/agents/find-launchable.ts'
import { accountKey } from '#features/credits/ledger/account.ts'
import { findTenant } from '#features/tenants/store.ts'
import { assertPrice } from '../assert-price.ts'
import { launchInto, payerOf, type Launch } from '../launch-session.ts'
import { openCoupon, openRoomKey } from '../session-secrets.ts'
import { sessionView } from '../session-view.ts'
import type { Session } from '../session.ts'
import { findBySummonKey } from '../store.ts'

export const summonSession: HandlerOf<'summonSession'> = async ({ ctx, claim, body }) => {
  await assertUnanswered(ctx.db, claim)
  const armed = await findArmed(ctx, body.summon_key)
  const coupon = openCoupon(ctx.vault, armed)
  const payer = await payerOf(ctx, coupon)
  const launch = await launchOf(ctx, armed, coupon)
  const answer = await claimedTransaction(ctx.db.lane(accountKey(payer)), claim, async (tx) => {
    const launched = await launchInto(ctx, tx, launch, payer, armed.id)
    if (!launched) throw new ApiError('state_conflict', { message: 'The agent is in the room already.' })
    return { status: 201 as const, data: sessionView(launched) }
  })
  ctx.usageCounter.count(armed.tenantId, 'launches', 1)
  return answer
}

async function findArmed(ctx: Context, summonKey: string): Promise<Session> {
  const armed = isCredential('summonKey', summonKey) ? await findBySummonKey(ctx.db, hashCredential(summonKey)) : undefined
  if (armed?.status !== 'armed')
    throw new ApiError('unauthorized', { message: 'There is no such summon key, or its room is armed no more.' })
  const tenant = await findTenant(ctx.db, armed.tenantId)
  if (tenant?.status !== 'active') throw new ApiError('tenant_suspended')
  return armed
}

/** The agent as it is now, in the room that was armed, paid from what was stashed. */
async function launchOf(ctx: Context, armed: Session, coupon: string): Promise<Launch> {
  const agent = await findLaunchable(ctx.db, armed.tenantId, armed.agentId)
  if (!agent) throw new ApiError('state_conflict', { message: 'The agent can no longer be launched.' })
  // Whoever armed it agreed to a price, and whoever summons cannot agree to another.
  assertPrice(agent, armed.priceCredits, '/summon_key')
  const mk = openRoomKey(ctx.vault, armed)
  return {
    tenantId: armed.tenantId,
    agent,
    room: armed.room,
    mk,
    coupon,
    maxMinutes: armed.maxMinutes,
    maxPriceCredits: armed.priceCredits,
    metadata: armed.metadata,
    roomCount: await ctx.agentRooms.assertEnters(agent, { room: armed.room, mk }),
  }
}
