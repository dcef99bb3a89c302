import { statement, type Database, type Tx } from '#db/database.ts'
import type { BudgetShare, Use } from './budget.ts'
import type { Session } from './session.ts'
import { sessionChannel, sessionColumns, toSession, type SessionRow } from './store.ts'

type SessionRef = Pick<Session, 'tenantId' | 'id'>

function written(id: string, [row]: SessionRow[]): Session {
  if (!row) throw new Error(`session ${id} was not written`)
  return toSession(row)
}

const useStatement = statement<SessionRow>(
  'sessions-use',
  `update sessions set used_tokens = $3, used_tool_calls = $4, used = $5, used_steps = $7,
     paused_at = case when $6 then coalesce(paused_at, now()) end
   where tenant_id = $1 and id = $2
   returning ${sessionColumns}`,
)

/** Writes what the session has used in all after this step, and whether it is paused. The caller has locked the row. */
export async function updateUse(
  tx: Tx,
  { tenantId, id }: SessionRef,
  { use, usedCredits, isPaused, step }: { use: Use; usedCredits: number; isPaused: boolean; step: number },
): Promise<Session> {
  const values = [tenantId, id, use.tokens, use.toolCalls, usedCredits, isPaused, step]
  return written(id, await tx.query(useStatement, values))
}

const topUpStatement = statement<SessionRow>(
  'sessions-top-up',
  // A worker that is still telling the room about the pause keeps its lease, and releases it by itself.
  `update sessions set budget = budget + $3, budget_holds = $4, paused_at = null,
     lease_until = case when lease_until = 'infinity' then null else lease_until end
   where tenant_id = $1 and id = $2
   returning ${sessionColumns}`,
)

/** Adds a share to the budget. A paused session continues: a worker is woken to claim it. */
export async function updateToppedUp(tx: Tx, session: Session, share: BudgetShare): Promise<Session> {
  const { tenantId, id, budgetShares } = session
  const shares = JSON.stringify([...budgetShares, share])
  const after = written(id, await tx.query(topUpStatement, [tenantId, id, share.credits, shares]))
  tx.wake(sessionChannel, id)
  return after
}

const parkStatement = statement<{ is_paused: boolean }>(
  'sessions-park',
  // A lease that nobody holds and that never ends keeps every worker away. A top-up ends it.
  `update sessions set lease_owner = null, lease_until = case when paused_at is not null then 'infinity'::timestamptz end
   where tenant_id = $1 and id = $2 and lease_owner = $3
   returning paused_at is not null as is_paused`,
)

/** Releases a paused session, so that no worker claims it before a top-up. */
export async function parkSession(
  db: Pick<Database, 'query' | 'wake'>,
  { tenantId, id }: SessionRef,
  leaseOwner: string,
): Promise<void> {
  const [row] = await db.query(parkStatement, [tenantId, id, leaseOwner])
  // The top-up came first, and may have woken the workers in vain.
  if (row && !row.is_paused) db.wake(sessionChannel, id)
}
