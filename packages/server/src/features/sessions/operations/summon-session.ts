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
import { assertPrice, launchInto, payerOf, type Launch } from '../launch-session.ts'
import { openCoupon, openRoomKey } from '../session-secrets.ts'
import { sessionView, type Session } from '../session.ts'
import { findBySummonKey } from '../store.ts'

export const summonSession: HandlerOf<'summonSession'> = async ({ ctx, claim, body }) => {
  await assertUnanswered(ctx.db, claim)
  const pending = await findPendingLaunch(ctx, body.summon_key)
  const coupon = openCoupon(ctx.vault, pending)
  const payer = await payerOf(ctx, coupon)
  const launch = await launchOf(ctx, pending, coupon)
  const answer = await claimedTransaction(ctx.db.lane(accountKey(payer)), claim, async (tx) => {
    const launched = await launchInto(ctx, tx, launch, payer, pending.id)
    if (!launched) throw new ApiError('state_conflict', { message: 'The agent is in the room already.' })
    return { status: 201 as const, data: sessionView(launched) }
  })
  ctx.usageCounter.count(pending.tenantId, 'launches', 1)
  return answer
}

async function findPendingLaunch(ctx: Context, summonKey: string): Promise<Session> {
  const pending = isCredential('summonKey', summonKey) ? await findBySummonKey(ctx.db, hashCredential(summonKey)) : undefined
  if (pending?.status !== 'armed')
    throw new ApiError('unauthorized', { message: 'The summon key is unknown or no longer valid.' })
  const tenant = await findTenant(ctx.db, pending.tenantId)
  if (tenant?.status !== 'active') throw new ApiError('tenant_suspended')
  return pending
}

/** The agent as it is now, with the room and the coupon that were stored with the pending launch. */
async function launchOf(ctx: Context, pending: Session, coupon: string): Promise<Launch> {
  const agent = await findLaunchable(ctx.db, pending.tenantId, pending.agentId)
  if (!agent) throw new ApiError('state_conflict', { message: 'The agent can no longer be launched.' })
  // The launcher agreed to a price. The holder of the summon key cannot agree to another one.
  assertPrice(agent, pending.priceCredits, '/summon_key')
  const mk = openRoomKey(ctx.vault, pending)
  return {
    tenantId: pending.tenantId,
    agent,
    room: pending.room,
    mk,
    coupon,
    maxMinutes: pending.maxMinutes,
    maxPriceCredits: pending.priceCredits,
    metadata: pending.metadata,
    roomCount: await ctx.agentRooms.assertEnters(agent, { room: pending.room, mk }),
  }
}
