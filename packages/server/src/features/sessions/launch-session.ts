import type { Context } from '../../context.ts'
import type { Tx } from '../../db/database.ts'
import { ApiError } from '../../http/api-error.ts'
import { hashCredential, newCredential, newId } from '../../random.ts'
import type { Agent } from '../agents/agent.ts'
import type { AccountRef } from '../credits/ledger/account.ts'
import { transactionId } from '../credits/ledger/movement.ts'
import { findPayer } from '../credits/ledger/payer.ts'
import { postMovements } from '../credits/ledger/post.ts'
import { sealRoomKey, sealCoupon } from './session-secrets.ts'
import type { LaunchedAgent, Session } from './session.ts'
import { insertSession } from './store.ts'

export interface Launch {
  /** Who launches. */
  tenantId: string
  agent: Agent
  room: string
  mk: string
  coupon: string
  /** As asked for; the agent's own limit holds besides. */
  maxMinutes: number | undefined
  metadata: Record<string, unknown> | null
  /** Lines of the room at the launch. */
  roomCount: number
}

/** How much longer than its session a hold stands: whoever settles has that much time before the sweeper releases it. */
const holdGraceMs = 10 * 60_000
const armedForMs = 90 * 24 * 60 * 60_000

/** Whose credits pay. A coupon that nobody knows holds nothing. */
export async function payerOf(ctx: Context, coupon: string): Promise<AccountRef> {
  const payer = await findPayer(ctx.db, coupon)
  if (!payer) throw new ApiError('insufficient_credit')
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
  return { session, controlToken }
}

/** Provisions a room without launching: nothing is held until its summon key is used. */
export async function armRoom(ctx: Context, tx: Tx, launch: Launch, payer: AccountRef) {
  const summonKey = newCredential('summonKey')
  const armed = await insertSession(tx, {
    ...newSession(ctx, launch, payer),
    status: 'armed',
    controlHash: null,
    summonHash: hashCredential(summonKey),
    armedId: null,
    expiresAt: new Date(Date.now() + armedForMs).toISOString(),
  })
  return { armed: armed!, summonKey }
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
    agentControlHash: null,
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
