import type { Context } from '../context.ts'
import type { Tx } from '#db/database.ts'
import { revenueAccount } from '../credits/ledger/account.ts'
import type { HoldEnd } from '../credits/ledger/movement.ts'
import { postMovements } from '../credits/ledger/post.ts'
import { recordEvent } from '../events/record-event.ts'
import { holdIdOf } from './launch-session.ts'
import { isAlive, isDue, sessionEvent, type Ending, type Session, type SessionStatus } from './session.ts'
import { findSessionForUpdate, updateEnded } from './store.ts'

/** What must still be so for an ending to count. */
export interface EndCondition {
  status?: SessionStatus
  /** The worker whose lease it must be: one that was stopped and goes on ends nothing that another worker has taken over. */
  leaseOwner?: string
}

/**
 * Ends a session and settles its bill, together. One that has ended stays as it ended, and so does one for which the condition does not hold.
 * undefined: there is none.
 */
export async function endSession(
  ctx: Context,
  { tenantId, id }: Pick<Session, 'tenantId' | 'id'>,
  ending: Ending,
  only: EndCondition = {},
) {
  return ctx.db.lane(id).transaction(async (tx) => {
    const session = await findSessionForUpdate(tx, tenantId, id)
    if (!session || !(isAlive(session.status) || session.status === 'armed')) return session
    if (only.status !== undefined && session.status !== only.status) return session
    if (only.leaseOwner !== undefined && session.leaseOwner !== only.leaseOwner) return session
    const chargedCredits = await settle(tx, session, ending)
    // An armed room is no session yet: it neither started nor stops.
    if (session.status !== 'armed') await tellEnded(tx, session, ending, chargedCredits)
    return updateEnded(tx, session, ending, chargedCredits)
  })
}

async function tellEnded(tx: Tx, session: Session, ending: Ending, chargedCredits: number): Promise<void> {
  const data = { ...sessionEvent(session), charged_credits: chargedCredits }
  if (ending.status === 'failed')
    await recordEvent(tx, session.tenantId, 'session.failed', { ...data, error_code: ending.error.code })
  else await recordEvent(tx, session.tenantId, 'session.stopped', { ...data, status: ending.status })
}

/** Captures or releases what was held; says what was charged. */
async function settle(tx: Tx, session: Session, ending: Ending): Promise<number> {
  if (!session.payer || session.status === 'armed') return 0
  const due = isDue(session, ending)
  const end: HoldEnd = {
    type: 'hold_end',
    id: holdIdOf(session),
    from: session.payer,
    actor: session.tenantId,
    outcome: due ? 'captured' : 'released',
    ...(due ? { capture: { to: revenueAccount(session.agentTenantId), amountCredits: session.priceCredits } } : {}),
  }
  const [outcome] = await postMovements(tx, [end])
  // repeated: nobody settled in time, and the sweeper has released the hold.
  return due && outcome === 'posted' ? session.priceCredits : 0
}
