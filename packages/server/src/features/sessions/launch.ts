import { countOne } from '#features/usage/store.ts'
import { hashCredential, newCredential, newId } from '#crypto/random.ts'
import type { Tx } from '#db/database.ts'
import { ApiError, invalid } from '#errors/api-error.ts'
import type { Agent } from '../agents/agent.ts'
import { canLaunch } from '../agents/status.ts'
import { findAgentForShare } from '../agents/store.ts'
import type { Context } from '../context.ts'
import { transactionId, type AccountRef, type Hold } from '#features/credits/ledger/movement.ts'
import { findPayer } from '#features/credits/ledger/store.ts'
import { nothingUnderCoupon, shortOfCredit } from '#features/credits/short-of-credit.ts'
import { postMovements } from '#features/credits/ledger/ledger.ts'
import { findLimits } from '#features/limits/limits.ts'
import { assertActive } from '#features/tenants/assert-active.ts'
import { holdEndsAt, holdOfShare, meteredPricesOf } from './budget.ts'
import type { HostedDevice } from './hosted-device.ts'
import { sealCoupon, sealDeviceKeys, sealRoomKey, type LaunchedAgent, type Session } from './session.ts'
import { countSessions, insertAgentVersion, insertSession } from './store.ts'

export interface Launch {
  /** The tenant that launches. */
  tenantId: string
  agent: Agent
  room: string
  /** The room key; where `isClientSealed`, what was sealed to the agent's key in its place, or null with a `device`. */
  mk: string | null
  isClientSealed: boolean
  /** The device with which a hosted agent joins a client-sealed room. */
  device: HostedDevice | null
  coupon: string
  /** As requested; the agent's own limit applies too. */
  maxMinutes: number | undefined
  /** The highest price that the caller accepts; undefined: the caller named none. */
  maxPriceCredits: number | undefined
  /** What the agent may use beside its price; 0: nothing is counted. */
  budgetCredits: number
  metadata: Record<string, unknown> | null
  /** The number of lines in the room at the launch. */
  roomCount: number
}

const pendingLaunchSeconds = 90 * 24 * 3_600
/** The owner of a client-sealed room consents meanwhile. Then the keys of the agent's device are erased. */
const preparedDeviceSeconds = 15 * 60

/**
 * The account that pays. An unknown coupon pays for nothing. A spent coupon launches nothing, not even a free agent,
 * because the coupon is the caller's only credential.
 */
export async function payerOf(ctx: Context, coupon: string): Promise<AccountRef> {
  const payer = await findPayer(ctx.db, coupon)
  if (!payer || payer.balanceCredits + payer.heldCredits === 0) throw nothingUnderCoupon()
  return payer.account
}

/**
 * Throws price_changed where a launch costs more than the buyer agreed to. Without an explicit limit the price that
 * the buyer saw is unknown, so a price that was raised in the last ten minutes counts as not agreed to.
 */
export function assertPrice(
  { priceCredits, raisedFromCredits }: Agent,
  maxPriceCredits: number | undefined,
  path = '/max_price_credits',
): void {
  const agreedCredits = maxPriceCredits ?? raisedFromCredits ?? priceCredits
  if (priceCredits <= agreedCredits) return
  const detail = { path, message: `the agent costs ${priceCredits} credits; the request agreed to ${agreedCredits}` }
  throw new ApiError('price_changed', {
    message: `The agent costs ${priceCredits} credits, and the request agreed to ${agreedCredits}. Nothing was charged.`,
    details: [{ ...detail, price_credits: priceCredits, agreed_price_credits: agreedCredits }],
  })
}

/**
 * Inserts the session and holds its price, in the caller's transaction. undefined: the agent is already in the room.
 */
export async function launchInto(
  ctx: Context,
  tx: Tx,
  launch: Launch,
  payer: AccountRef,
  pendingLaunchId: string | null,
): Promise<{ session: Session; controlToken: string } | undefined> {
  const controlToken = newCredential('controlToken')
  const session = await insertSession(tx, {
    ...newSession(ctx, launch, payer),
    budgetShares: launch.budgetCredits > 0 ? [{ payer, credits: launch.budgetCredits }] : [],
    status: 'launching',
    controlHash: hashCredential(controlToken),
    summonHash: null,
    pendingLaunchId,
  })
  if (!session) return undefined
  await assertActive(tx, session.tenantId)
  await assertSessionQuota(ctx, tx, session.tenantId, 'active')
  // Only now: a launch of an agent that is already in the room costs nothing, whatever the price.
  assertPrice(launch.agent, launch.maxPriceCredits)
  const holds = holdsOf(session)
  const outcomes = holds.length > 0 ? await postMovements(tx, holds) : []
  if (outcomes.some((outcome) => outcome !== 'posted')) {
    const needed = holds.reduce((sum, { amountCredits }) => sum + amountCredits, 0)
    const withBudget = launch.budgetCredits > 0 ? ` (${launch.budgetCredits} of them as the budget)` : ''
    throw shortOfCredit('launch', needed, 'the coupon', withBudget)
  }
  await assertStillLaunchable(tx, launch, pendingLaunchId !== null)
  await insertAgentVersion(tx, session)
  await countOne(tx, session.tenantId, 'launches')
  return { session, controlToken }
}

/**
 * The status was read before the room was checked. Whoever changes it waits for this transaction, and then finds the
 * session: so no session of a suspended agent goes on.
 */
async function assertStillLaunchable(tx: Tx, { agent, tenantId }: Launch, wasPending: boolean): Promise<void> {
  const now = await findAgentForShare(tx, agent.tenantId, agent.id)
  if (!now || !canLaunch(now, tenantId)) throw notLaunchable(wasPending)
}

/** `wasPending`: the caller has a summon key, and names no agent. */
export function notLaunchable(wasPending: boolean): ApiError {
  if (wasPending) return new ApiError('state_conflict', { message: 'The agent can no longer be launched.' })
  return invalid('/agent_id', 'is not an agent that you can launch')
}

/** The price, and what the agent may use beside it: two holds, so that nothing of it can be spent twice. */
function holdsOf(session: Session): Hold[] {
  const { payer, priceCredits: amountCredits, tenantId: actor } = session
  const price: Hold[] = payer
    ? [
        {
          type: 'hold',
          id: holdIdOf(session),
          from: payer,
          amountCredits,
          actor,
          endsAt: holdEndsAt(session),
          purpose: session.id,
        },
      ]
    : []
  return [...price, ...session.budgetShares.map((share, i) => holdOfShare(session, share, i))]
}

/** Stores a pending launch for the holder of its summon key. Credits are held only once the key is used. */
export async function reserveLaunch(ctx: Context, tx: Tx, launch: Launch, payer: AccountRef) {
  assertPrice(launch.agent, launch.maxPriceCredits)
  await assertActive(tx, launch.tenantId)
  const summonKey = newCredential('summonKey')
  const pending = await insertSession(tx, {
    ...newSession(ctx, launch, payer),
    budgetShares: [],
    status: 'armed',
    controlHash: null,
    summonHash: hashCredential(summonKey),
    pendingLaunchId: null,
    lifetimeSeconds: launch.device ? preparedDeviceSeconds : pendingLaunchSeconds,
  })
  if (!pending) throw new Error('a pending launch met another one: only active sessions are unique for a room')
  await assertSessionQuota(ctx, tx, launch.tenantId, 'armed')
  await insertAgentVersion(tx, pending)
  return { pending, summonKey }
}

const quotas = {
  active: { limit: 'active_sessions', of: 'sessions launching or running' },
  armed: { limit: 'pending_launches', of: 'pending launches' },
} as const

/**
 * Keeps one tenant from taking all the capacity. The session that was just inserted counts too. Concurrent launches do
 * not see each other, so that a few more may pass.
 */
async function assertSessionQuota(
  ctx: Pick<Context, 'config'>,
  tx: Tx,
  tenantId: string,
  which: keyof typeof quotas,
): Promise<void> {
  const { limit, of } = quotas[which]
  const { [limit]: count } = await findLimits(ctx, tx, tenantId)
  if ((await countSessions(tx, tenantId, which, count + 1)) <= count) return
  const message = `This tenant has ${count} ${of}: no more until one of them ends.`
  throw new ApiError('rate_limited', { message, retryAfterSeconds: 60 })
}

export function holdIdOf({ id }: Pick<Session, 'id'>): string {
  return transactionId('hold', id)
}

function newSession(
  { vault }: Context,
  { tenantId, agent, room, mk, isClientSealed, device, coupon, metadata, roomCount, budgetCredits, ...launch }: Launch,
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
    isClientSealed,
    mkSealed: mk === null ? null : sealRoomKey(vault, { tenantId, id }, mk),
    deviceSealed: device && sealDeviceKeys(vault, { tenantId, id }, device),
    couponSealed: sealCoupon(vault, { tenantId, id }, coupon),
    priceCredits: agent.priceCredits,
    budgetCredits,
    payer: agent.priceCredits > 0 ? payer : null,
    maxMinutes,
    metadata,
    answeredSeq: roomCount - 1,
    lifetimeSeconds: maxMinutes * 60,
  }
}

function launchedAgent(agent: Agent): LaunchedAgent {
  const { name, instructions, model, endpoint, tools, greeting, maxMinutes } = agent
  return { name, instructions, model, endpoint, tools, greeting, maxMinutes, metered: meteredPricesOf(agent) }
}
