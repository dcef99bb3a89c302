import { statement, type Db } from '#db/database.ts'
import type { Session } from '../session.ts'
import { sessionColumns, toSession, type SessionRow } from '../store.ts'
import { leaseSeconds } from './lease.ts'

// A remote agent is launched once and then runs by itself.
const claimable = `status in ('launching', 'running') and (lease_until is null or lease_until < now()) and expires_at > now()
  and (not is_remote or (status = 'launching' and agent_control_hash is null))`

const claimStatement = statement<SessionRow & { left_ms: number }>(
  'sessions-claim',
  // In turn over the tenants: each one's first, then each one's second, counted from what this worker runs for it already. skip locked: two
  // workers that look at the same moment take different ones; what the other has just taken is seen once its row is locked.
  `with held as (
     select * from unnest($4::text[], $5::integer[]) as h (tenant_id, count)
   ), waiting as (
     select s.tenant_id, s.id, coalesce(held.count, 0) + row_number() over (partition by s.tenant_id order by s.created_at) as turn
     from sessions s left join held on held.tenant_id = s.tenant_id
     where ${claimable}
   )
   update sessions
   set lease_owner = $1, lease_until = now() + make_interval(secs => ${leaseSeconds})
   where (tenant_id, id) in (
     select s.tenant_id, s.id from sessions s join waiting w on w.tenant_id = s.tenant_id and w.id = s.id
     where ${claimable} and w.turn <= $3
     order by w.turn, s.created_at
     limit $2
     for update of s skip locked
   )
   returning ${sessionColumns}, (extract(epoch from expires_at - now()) * 1000)::float8 as left_ms`,
)

interface Room {
  /** How many more it runs. */
  free: number
  /** How many it runs for one tenant at most. */
  perTenant: number
  /** How many it runs now, by tenant. */
  held: ReadonlyMap<string, number>
}

/** A session, and how much of its time is left: by the database's clock, since this machine's may be wrong. */
export interface ClaimedSession {
  session: Session
  leftMs: number
}

/** Takes sessions that nobody runs: new ones, and those whose worker died. */
export async function claimSessions(db: Db, owner: string, { free, perTenant, held }: Room): Promise<ClaimedSession[]> {
  const rows = await db.query(claimStatement, [owner, free, perTenant, [...held.keys()], [...held.values()]])
  return rows.map((row) => ({ session: toSession(row), leftMs: row.left_ms }))
}
