import { limits } from '@atrium/contract/limits'
import type { SessionLaunch } from '@atrium/contract/session-schemas'
import { isCredential } from '@atrium/contract/tokens'
import type { Static } from 'typebox'
import type { Context } from '#features/context.ts'
import type { Tx } from '#db/database.ts'
import { ApiError, invalid } from '#errors/api-error.ts'
import type { HandlerOf } from '#features/handler.ts'
import { claimedTransaction } from '#http/idempotency/claimed-transaction.ts'
import { assertUnanswered } from '#http/idempotency/run-claimed.ts'
import { hashCredential } from '#crypto/random.ts'
import type { Agent } from '#features/agents/agent.ts'
import { findLaunchable } from '#features/agents/status.ts'
import { assertJsonSize } from '#http/parse.ts'
import { accountKey, type AccountRef } from '#features/credits/ledger/movement.ts'
import { findTenant } from '#features/tenants/store.ts'
import { assertPrice, launchInto, notLaunchable, payerOf, reserveLaunch, type Launch } from '../launch.ts'
import { meteredPricesOf } from '../budget.ts'
import { atQuotedPrices, openQuote } from '../quote.ts'
import { assertSealedTo } from '../sealed-key.ts'
import { endSession } from '../session-transitions.ts'
import { makeHostedDevice, openHostedDevice } from '../hosted-device.ts'
import { openCoupon, openDeviceKeys, openRoomKey, sessionView, type Session } from '../session.ts'
import { findBySummonKey, findPresent, findSessionForUpdate } from '../store.ts'

/**
 * Checks the room first, without a database connection during the call to the Space service. The rest is one
 * transaction.
 */
export const launchSession: HandlerOf<'launchSession'> = async ({ ctx, claim, tenantId, body }) => {
  await assertUnanswered(ctx.db, claim)
  if (body.metadata) assertJsonSize(body.metadata, limits.metadataBytes, '/metadata')
  const found = await findLaunchable(ctx.db, tenantId, body.agent_id)
  if (!found) throw notLaunchable(false)
  const quote = body.quote === undefined ? undefined : await openQuote(ctx, tenantId, found.id, body.quote)
  if (quote && (body.max_minutes ?? 0) > quote.maxMinutes)
    throw invalid('/max_minutes', `the quote is for at most ${quote.maxMinutes} minutes`)
  const agent = quote ? atQuotedPrices(found, quote) : found
  if (body.budget_credits !== undefined && !meteredPricesOf(agent))
    throw invalid('/budget_credits', 'the agent has no metered prices: a budget would pay for nothing')
  const { room } = body.room
  assertKey(agent, body)
  const payer = await payerOf(ctx, body.coupon)
  const { card, ...key } = await keyOf(ctx, agent, body)
  const launch: Launch = {
    tenantId,
    agent,
    room,
    ...key,
    coupon: body.coupon,
    maxMinutes: body.max_minutes ?? quote?.maxMinutes,
    maxPriceCredits: body.max_price_credits ?? quote?.priceCredits,
    budgetCredits: body.budget_credits ?? 0,
    metadata: body.metadata ?? null,
  }
  return claimedTransaction(ctx.db.lane(accountKey(payer)), claim, (tx) =>
    body.arm ? reserve(ctx, tx, { launch, card }, payer) : start(ctx, tx, launch, payer),
  )
}

function assertKey(agent: Agent, { room: { mk, sealed_key: sealedKey }, arm }: Static<typeof SessionLaunch>): void {
  if (sealedKey === undefined) {
    // A hosted agent gets a device of its own in a client-sealed room.
    if (mk === undefined && !(arm && agent.endpoint === null)) throw invalid('/room/mk', 'required')
    return
  }
  if (mk !== undefined) throw invalid('/room/mk', 'must not be sent with sealed_key: this service must not get the key')
  // What is sealed is an invitation for one stay, and the room has another key afterwards.
  if (arm) throw invalid('/arm', 'a launch with sealed_key cannot be prepared: launch the agent when it is wanted')
}

type Key = Pick<Launch, 'mk' | 'isClientSealed' | 'device' | 'roomCount'> & { card?: string }

/** What the agent joins with, and how many lines the room has: 0 where its clients seal them, because only they read it. */
async function keyOf({ agentRooms }: Context, agent: Agent, { room: given }: Static<typeof SessionLaunch>): Promise<Key> {
  const { room, mk, sealed_key: sealedKey } = given
  if (mk !== undefined)
    return { mk, isClientSealed: false, device: null, roomCount: await agentRooms.assertEnters(agent, { room, mk }) }
  if (sealedKey !== undefined) {
    assertSealedTo(agent.encryptionKey, sealedKey)
    await agentRooms.assertClientSealed(agent, room)
    return { mk: sealedKey, isClientSealed: true, device: null, roomCount: 0 }
  }
  await agentRooms.assertClientSealed(agent, room, '/room/mk')
  return { mk: null, isClientSealed: true, roomCount: 0, ...(await makeHostedDevice(room, agent)) }
}

async function reserve(ctx: Context, tx: Tx, { launch, card }: { launch: Launch; card: string | undefined }, payer: AccountRef) {
  const { pending, summonKey } = await reserveLaunch(ctx, tx, launch, payer)
  const { id, agentId, room, expiresAt } = pending
  const shown = { id, status: 'armed' as const, summon_key: summonKey, agent_id: agentId, room, expires_at: expiresAt }
  return { status: 201 as const, data: { ...shown, ...(card !== undefined && { card }) } }
}

async function start(ctx: Context, tx: Tx, launch: Launch, payer: AccountRef) {
  const launched = await launchInto(ctx, tx, launch, payer, null)
  if (launched) return { status: 201 as const, data: sessionView(launched) }
  const { agent, room } = launch
  const id = await findPresent(tx, room, agent.id)
  // The agent left after the insert found it there.
  if (!id) throw new ApiError('unavailable', { retryAfterSeconds: 1 })
  return { status: 200 as const, data: { id, agent_id: agent.id, room, already_present: true as const } }
}

/** Turns a pending launch into a session, for the holder of its summon key. */
export const summonSession: HandlerOf<'summonSession'> = async ({ ctx, claim, body }) => {
  await assertUnanswered(ctx.db, claim)
  const pending = await findPendingLaunch(ctx, body.summon_key)
  const coupon = openCoupon(ctx.vault, pending)
  const payer = await payerOf(ctx, coupon)
  const launch = await launchOf(ctx, pending, coupon)
  return claimedTransaction(ctx.db.lane(accountKey(payer)), claim, async (tx) => {
    if (launch.device) await usePrepared(tx, pending)
    const launched = await launchInto(ctx, tx, launch, payer, pending.id)
    if (!launched) throw new ApiError('state_conflict', { message: 'The agent is in the room already.' })
    return { status: 201 as const, data: sessionView(launched) }
  })
}

async function findPendingLaunch(ctx: Context, summonKey: string): Promise<Session> {
  const pending = isCredential('summonKey', summonKey) ? await findBySummonKey(ctx.db, hashCredential(summonKey)) : undefined
  // The sweep may not have ended an expired launch yet.
  if (pending?.status !== 'armed' || pending.isOver) throw unknownSummonKey()
  const tenant = await findTenant(ctx.db, pending.tenantId)
  if (tenant?.status !== 'active') throw new ApiError('tenant_suspended')
  return pending
}

/** The keys of a device are for one stay: the pending launch ends with its use, and erases its own. */
async function usePrepared(tx: Tx, pending: Session): Promise<void> {
  // Another call with the same summon key may have used it meanwhile.
  const { status } = (await findSessionForUpdate(tx, pending.tenantId, pending.id)) ?? {}
  if (status !== 'armed') throw unknownSummonKey()
  await endSession(tx, pending, { status: 'stopped' })
}

function unknownSummonKey(): ApiError {
  return new ApiError('unauthorized', { message: 'The summon key is unknown or no longer valid.' })
}

/** The agent as it is now, with the room and the coupon that were stored with the pending launch. */
async function launchOf(ctx: Context, pending: Session, coupon: string): Promise<Launch> {
  const agent = await findLaunchable(ctx.db, pending.tenantId, pending.agentId)
  if (!agent) throw notLaunchable(true)
  // The launcher agreed to a price. The holder of the summon key cannot agree to another one.
  assertPrice(agent, pending.priceCredits, '/summon_key')
  return {
    tenantId: pending.tenantId,
    agent,
    room: pending.room,
    ...(await pendingKey(ctx, agent, pending)),
    coupon,
    maxMinutes: pending.maxMinutes,
    maxPriceCredits: pending.priceCredits,
    budgetCredits: pending.budget?.heldCredits ?? 0,
    metadata: pending.metadata,
  }
}

async function pendingKey({ agentRooms, vault }: Context, agent: Agent, pending: Session): Promise<Key> {
  const { room, isClientSealed } = pending
  if (!isClientSealed) {
    const mk = openRoomKey(vault, pending)
    return { mk, isClientSealed, device: null, roomCount: await agentRooms.assertEnters(agent, { room, mk }) }
  }
  // Its maker has changed it since. A remote agent has keys of its own.
  if (agent.endpoint !== null) throw new ApiError('state_conflict', { message: 'The agent is no longer hosted here.' })
  const device = openDeviceKeys(vault, pending)
  const { owner, count } = await agentRooms.getConsent(agent, room, await openHostedDevice(device))
  return { mk: null, isClientSealed, device: { ...device, owner }, roomCount: count }
}
