import type { Tx } from '#db/database.ts'
import type { Context } from '../context.ts'
import { revenueAccount } from '#features/credits/ledger/movement.ts'
import { type Budget, endsOfShares } from './budget.ts'
import type { AccountRef, HoldEnd } from '../credits/ledger/movement.ts'
import { postMovements } from '#features/credits/ledger/ledger.ts'
import { event, recordEvent, recordEvents } from '../events/record-event.ts'
import { holdIdOf } from './launch.ts'
import { isActive, isDue, sessionEvent, type Ending, type Session, type SessionStatus } from './session.ts'
import { listUnendedOfTenant } from './retention-store.ts'
import { listOfHeldAgent, listOfSuspended, listOverdue } from './list-store.ts'
import { findSessionForUpdate, updateEnded, updateJoined } from './store.ts'

type SessionRef = Pick<Session, 'tenantId' | 'id'>

/** A transition applies only where the session still meets this condition. */
interface Condition {
  status?: SessionStatus
  /**
   * The worker that must hold the lease: one that was paused must not change a session that another worker has taken
   * over.
   */
  leaseOwner?: string
}

function meets(session: Session, { status, leaseOwner }: Condition): boolean {
  return (status === undefined || session.status === status) && (leaseOwner === undefined || session.leaseOwner === leaseOwner)
}

/**
 * Records that the agent is in its room; the first time, with its events. undefined: the session has ended, its
 * time was up before the agent came, or the condition is not met.
 */
export async function joinSession(
  tx: Tx,
  { tenantId, id }: SessionRef,
  only: Pick<Condition, 'leaseOwner'> = {},
): Promise<Session | undefined> {
  const before = await findSessionForUpdate(tx, tenantId, id)
  if (!before || !meets(before, only)) return undefined
  // From joining on, the price is due: an agent that comes after the end has nothing to be paid for.
  if (before.joinedAt === null && before.isOver) return undefined
  const joined = await updateJoined(tx, tenantId, id)
  if (joined?.joinedAt && before.joinedAt === null) {
    const data = sessionEvent(joined)
    await recordEvents(tx, [
      event(tenantId, 'session.started', data),
      event(tenantId, 'session.joined', { ...data, joined_at: joined.joinedAt, price_credits: joined.priceCredits }),
    ])
  }
  return joined
}

/**
 * Ends a session and settles its bill, together. A session that has already ended, or does not meet the condition,
 * stays as it is. undefined: the session does not exist.
 */
export async function endSession(
  tx: Tx,
  { tenantId, id }: SessionRef,
  ending: Ending,
  only: Condition = {},
): Promise<Session | undefined> {
  const session = await findSessionForUpdate(tx, tenantId, id)
  if (!session || !(isActive(session.status) || session.status === 'armed') || !meets(session, only)) return session
  const chargedCredits = await settle(tx, session, ending)
  // A pending launch has never started, so no event reports that it stopped.
  if (session.status !== 'armed') await recordEnded(tx, session, ending, chargedCredits)
  return updateEnded(tx, session, ending, chargedCredits)
}

/** The same in a transaction of its own. */
export function commitEnd(ctx: Pick<Context, 'db'>, session: SessionRef, ending: Ending, only?: Condition) {
  return ctx.db.lane(session.id).transaction((tx) => endSession(tx, session, ending, only))
}

async function recordEnded(tx: Tx, session: Session, ending: Ending, chargedCredits: number): Promise<void> {
  const data = { ...sessionEvent(session), charged_credits: chargedCredits }
  if (ending.status === 'failed')
    await recordEvent(tx, session.tenantId, 'session.failed', { ...data, error_code: ending.error.code })
  else await recordEvent(tx, session.tenantId, 'session.stopped', { ...data, status: ending.status })
}

/** Captures or releases the holds; returns the credits charged. */
async function settle(tx: Tx, session: Session, ending: Ending): Promise<number> {
  if (session.status === 'armed') return 0
  const due = isDue(session, ending)
  const ends = [
    ...(session.payer ? [endOfPrice(session, session.payer, due)] : []),
    ...endsOfShares(session, session.budgetShares, due ? (session.budget?.usedCredits ?? 0) : 0),
  ].map((end): HoldEnd => ({ ...end, use: session.budget ? useOf(session.budget) : undefined }))
  if (ends.length === 0) return 0
  const outcomes = await postMovements(tx, ends)
  // repeated: nothing settled the hold in time, and the sweeper has released it.
  const posted = ends.filter((_, i) => outcomes[i] === 'posted')
  return posted.reduce((sum, { capture }) => sum + (capture?.amountCredits ?? 0), 0)
}

function endOfPrice(session: Session, payer: AccountRef, due: boolean): HoldEnd {
  return {
    type: 'hold_end',
    id: holdIdOf(session),
    from: payer,
    actor: session.tenantId,
    outcome: due ? 'captured' : 'released',
    joinedAt: session.joinedAt,
    ...(due ? { capture: { to: revenueAccount(session.agentTenantId), amountCredits: session.priceCredits } } : {}),
  }
}

function useOf({ heldCredits, usedCredits, use }: Budget): HoldEnd['use'] {
  return { budgetCredits: heldCredits, usedCredits, ...use }
}

interface Ended {
  /** How many sessions were overdue. */
  overdue: number
  /** How many more belong to a suspended tenant or agent. */
  suspended: number
  /** The ids of those that could not be ended. One failure does not keep the others from their end. */
  failed: string[]
  /** Why these could not be listed. The holds that are due are to be settled all the same. */
  problem: unknown
}

/**
 * Ends the sessions whose time is up, whatever became of their worker, those whose remote agent did not join, and
 * those of suspended tenants and agents; up to `limit` of each, without those whose ids are in `but`. The caller calls
 * noteContact first.
 */
export async function endOverdue(ctx: Context, limit: number, but: readonly string[] = []): Promise<Ended> {
  const failed: string[] = []
  const end = async (session: Session, ending: Ending) => {
    try {
      // An agent that joined since the query stays.
      await commitEnd(ctx, session, ending, ending.status === 'failed' ? { status: 'launching' } : {})
    } catch (error) {
      ctx.log.error({ err: error, session: session.id }, 'cannot end an overdue session')
      failed.push(session.id)
    }
  }
  const endAll = async (sessions: Session[], ending: (session: Session) => Ending) => {
    // Several at once, because each may wait for a lock.
    for (let at = 0; at < sessions.length; at += batch)
      await Promise.all(sessions.slice(at, at + batch).map((session) => end(session, ending(session))))
  }
  const overdue = await listOverdue(ctx.db, { but: [...but], limit })
  await endAll(overdue, endingOf)
  let suspended: Session[] = []
  let problem: unknown
  try {
    // Not while more overdue sessions may be left: they must end on time, and the end of a session may wait for a lock.
    if (overdue.length < limit) suspended = await listOfSuspended(ctx.db, { but: [...but, ...failed], limit })
  } catch (error) {
    problem = error
  }
  await endAll(suspended, () => ({ status: 'stopped' }))
  return { overdue: overdue.length, suspended: suspended.length, failed, problem }
}

function endingOf({ isOver }: Session): Ending {
  if (isOver) return { status: 'expired' }
  return {
    status: 'failed',
    error: { code: 'agent_never_came', message: 'The agent did not report within 30 seconds that it had joined.' },
  }
}

/** How many sessions end at once. Each ends in its own transaction, so that no connection is held for long. */
const batch = 10

/**
 * Stops all sessions of an agent that an operator has suspended, whichever tenant launched them. Each is charged like
 * any session that is stopped. Sessions that begin after the suspension is lifted go on.
 */
export function stopSessionsOfAgent(ctx: Context, agentTenantId: string, agentId: string): Promise<void> {
  return stopAll(ctx, (but) => listOfHeldAgent(ctx.db, agentTenantId, agentId, { but, limit: batch }))
}

/** Ends every session that the tenant launched or whose agent it owns, and its pending launches. */
export function stopSessionsOfTenant(ctx: Pick<Context, 'db'>, tenantId: string): Promise<void> {
  return stopAll(ctx, (but) => listUnendedOfTenant(ctx.db, tenantId, { but, limit: batch }))
}

/**
 * Stops all sessions that `list` returns, in batches. `but` has the ids of those that could not be stopped, for example
 * because the row is locked; the others are stopped all the same. Throws the first error, for the caller to repeat.
 */
async function stopAll(ctx: Pick<Context, 'db'>, list: (but: string[]) => Promise<SessionRef[]>): Promise<void> {
  const failed: { id: string; reason: unknown }[] = []
  for (;;) {
    const found = await list(failed.map(({ id }) => id))
    const ends = await Promise.allSettled(found.map((session) => commitEnd(ctx, session, { status: 'stopped' })))
    for (const [i, { id }] of found.entries()) {
      const end = ends[i]
      if (end?.status === 'rejected') failed.push({ id, reason: end.reason })
    }
    // After as many failures as a batch has sessions, the reason is not one row: the rest would wait in vain.
    if (found.length === batch && failed.length < batch) continue
    if (failed[0]) throw failed[0].reason
    return
  }
}
