import { statement, type Db } from '../../../db/database.ts'
import type { Session } from '../session.ts'
import { sessionColumns, toSession, type SessionRow } from '../store.ts'
import { leaseSeconds } from './lease.ts'

const claimStatement = statement<SessionRow>(
  'sessions-claim',
  // skip locked: two workers that look at the same moment take different ones. A remote agent is launched once and then runs by itself.
  `update sessions
   set lease_owner = $1, lease_until = now() + make_interval(secs => ${leaseSeconds})
   where (tenant_id, id) in (
     select tenant_id, id from sessions
     where status in ('launching', 'running') and (lease_until is null or lease_until < now()) and expires_at > now()
       and (agent->>'endpoint' is null or (status = 'launching' and agent_control_hash is null))
     order by created_at
     limit $2
     for update skip locked
   )
   returning ${sessionColumns}`,
)

/** Takes sessions that nobody runs: new ones, and those whose worker died. */
export async function claimSessions(db: Db, owner: string, limit: number): Promise<Session[]> {
  return (await db.query(claimStatement, [owner, limit])).map(toSession)
}
