import { limits } from '@atrium/contract/limits'
import type { Context } from '../context.ts'
import type { Tx } from '#db/database.ts'
import { ApiError } from '#errors/api-error.ts'
import { hashCredential, newCredential, newId } from '#crypto/random.ts'
import type { Agent } from '../agents/agent.ts'
import type { AccountRef } from '../credits/ledger/account.ts'
import { transactionId } from '../credits/ledger/movement.ts'
import { findPayer } from '../credits/ledger/payer.ts'
import { postMovements } from '../credits/ledger/post.ts'
import { assertPrice } from './assert-price.ts'
import { sealRoomKey, sealCoupon } from './session-secrets.ts'
import type { LaunchedAgent, Session } from './session.ts'
import { countSessions, insertSession, keepVersion } from './store.ts'

export interface Launch {
  /** Who launches. */
  tenantId: string
  agent: Agent
  room: string
  mk: string
  coupon: string
  /** As asked for; the agent's own limit holds besides. */
  maxMinutes: number | undefined
  /** What the price may be at most; undefined: whoever launches did not say. */
  maxPriceCredits: number | undefined
  metadata: Record<string, unknown> | null
  /** Lines of the room at the launch. */
  roomCount: number
}

/** How much longer than its session a hold stands: whoever settles has that much time before the sweeper releases it. */
const holdGraceMs = 10 * 60_000
const armedForMs = 90 * 24 * 60 * 60_000

/**
 * Whose credits pay. A coupon that nobody knows holds nothing, and one that is spent launches nothing, not even what is free: it is what the
 * caller has to show for itself.
 */
export async function payerOf(ctx: Context, coupon: string): Promise<AccountRef> {
  const payer = await findPayer(ctx.db, coupon)
  if (!payer || payer.balanceCredits + payer.heldCredits === 0) throw new ApiError('insufficient_credit')
  return payer.account
}

/** Launches in the caller's transaction: the session and the hold of its price, or neither. undefined: the agent is in the room already. */
export async function launchInto(
  ctx: Context,
  tx: Tx,
  launch: Launch,
  payer: AccountRef,
  armedId: string | null,
): Promise<{ session: Session; controlToken: string } | undefined> {
  const controlToken = newCredential('controlToken')
  const session = await insertSession(tx, {
    ...newSession(ctx, launch, payer),
    status: 'launching',
    controlHash: hashCredential(controlToken),
    summonHash: null,
    armedId,
  })
  if (!session) return undefined
  await assertRoomLeft(tx, session.tenantId, 'living')
  // After the look whether the agent is there already: that costs nothing, whatever the price.
  assertPrice(launch.agent, launch.maxPriceCredits)
  if (session.priceCredits > 0) {
    const [outcome] = await postMovements(tx, [
      {
        type: 'hold',
        id: holdIdOf(session),
        from: payer,
        amountCredits: session.priceCredits,
        actor: session.tenantId,
        endsAt: new Date(Date.parse(session.expiresAt) + holdGraceMs).toISOString(),
        purpose: session.id,
      },
    ])
    if (outcome !== 'posted') throw new ApiError('insufficient_credit')
  }
  await keepVersion(tx, session)
  return { session, controlToken }
}

/** Provisions a room without launching: nothing is held until its summon key is used. */
export async function armRoom(ctx: Context, tx: Tx, launch: Launch, payer: AccountRef) {
  assertPrice(launch.agent, launch.maxPriceCredits)
  const summonKey = newCredential('summonKey')
  const armed = await insertSession(tx, {
    ...newSession(ctx, launch, payer),
    status: 'armed',
    controlHash: null,
    summonHash: hashCredential(summonKey),
    armedId: null,
    expiresAt: new Date(Date.now() + armedForMs).toISOString(),
  })
  await assertRoomLeft(tx, launch.tenantId, 'armed')
  await keepVersion(tx, armed!)
  return { armed: armed!, summonKey }
}

const most = {
  living: { count: limits.livingSessions, is: 'sessions launching or running' },
  armed: { count: limits.armedRooms, is: 'rooms armed' },
}

/**
 * That one tenant does not take all that runs sessions. What was just inserted is counted too; launches at the same moment do not see each
 * other, so that a few more may pass.
 */
async function assertRoomLeft(tx: Tx, tenantId: string, which: keyof typeof most): Promise<void> {
  const { count, is } = most[which]
  if ((await countSessions(tx, tenantId, which, count + 1)) <= count) return
  const message = `This tenant has ${count} ${is}: no more until one of them ends.`
  throw new ApiError('rate_limited', { message, retryAfterSeconds: 60 })
}

export function holdIdOf({ id }: Pick<Session, 'id'>): string {
  return transactionId('hold', id)
}

function newSession(
  { vault }: Context,
  { tenantId, agent, room, mk, coupon, metadata, roomCount, ...launch }: Launch,
  payer: AccountRef,
) {
  const id = newId('session')
  const maxMinutes = Math.min(launch.maxMinutes ?? agent.maxMinutes, agent.maxMinutes)
  return {
    tenantId,
    id,
    agentTenantId: agent.tenantId,
    agentId: agent.id,
    agent: launchedAgent(agent),
    room,
    mkSealed: sealRoomKey(vault, { tenantId, id }, mk),
    couponSealed: sealCoupon(vault, { tenantId, id }, coupon),
    priceCredits: agent.priceCredits,
    payer: agent.priceCredits > 0 ? payer : null,
    maxMinutes,
    metadata,
    answeredSeq: roomCount - 1,
    expiresAt: new Date(Date.now() + maxMinutes * 60_000).toISOString(),
  }
}

function launchedAgent({ name, instructions, model, endpoint, tools, greeting, maxMinutes }: Agent): LaunchedAgent {
  return { name, instructions, model, endpoint, tools, greeting, maxMinutes }
}
