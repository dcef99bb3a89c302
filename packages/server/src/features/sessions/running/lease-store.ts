import { statement, type Db } from '#db/database.ts'
import { leaseOver } from '#db/lease-over.ts'
import type { Session } from '../session.ts'
import { sessionColumns, toSession, type SessionRow } from '../store.ts'

/**
 * The worker that holds a session's lease runs the session. The worker renews the lease; when the lease runs out,
 * another worker takes the session over. Each of these writes names the lease owner, so that a worker that was paused
 * changes nothing when it resumes.
 */
export const leaseSeconds = 30

const kinds = {
  hosted: `status in ('launching', 'running') and not is_remote`,
  // A remote agent is called once, and then runs without us.
  remote: `status = 'launching' and is_remote and agent_control_hash is null`,
}

/** What a worker claims: sessions of hosted agents, or launches of remote ones. */
export type ClaimKind = keyof typeof kinds

const claimable = (kind: ClaimKind) => `${kinds[kind]} and ${leaseOver('lease_until', leaseSeconds)} and expires_at > now()`

const claimOf = (name: string, kind: ClaimKind) =>
  statement<SessionRow & { left_ms: number }>(
    name,
    // Round robin over the tenants: each one's first session, then each one's second, counted from what this worker
    // already runs for it. skip locked: workers that claim at the same moment take different sessions. `claimable` is
    // checked again on the locked row, because another worker may have claimed it since it was ranked.
    `with running as (
       select * from unnest($4::text[], $5::text[]) as r (tenant_id, id)
     ), held as (
       select tenant_id, count(*) from running group by tenant_id
     ), waiting as (
       select s.tenant_id, s.id,
         coalesce(held.count, 0) + row_number() over (partition by s.tenant_id order by s.created_at) as fairness_rank
       from sessions s left join held on held.tenant_id = s.tenant_id
       where ${claimable(kind)} and (s.tenant_id, s.id) not in (select tenant_id, id from running)
     )
     update sessions
     set lease_owner = $1, lease_until = now() + make_interval(secs => ${leaseSeconds})
     where (tenant_id, id) in (
       select s.tenant_id, s.id from sessions s join waiting w on w.tenant_id = s.tenant_id and w.id = s.id
       where ${claimable(kind)} and w.fairness_rank <= $3
       order by w.fairness_rank, s.created_at
       limit $2
       for update of s skip locked
     )
     returning ${sessionColumns}, (extract(epoch from expires_at - now()) * 1000)::float8 as left_ms`,
  )

const claimStatements = { hosted: claimOf('sessions-claim', 'hosted'), remote: claimOf('sessions-claim-remote', 'remote') }

type SessionRef = Pick<Session, 'tenantId' | 'id'>

interface Capacity {
  kind: ClaimKind
  /** How many more of them the worker can run. */
  free: number
  /** How many of one tenant it runs at most. */
  perTenant: number
  /**
   * Those of its runs that have not ended. It claims none of these: an old run could still write under the new
   * lease, or would leave the new lease without a run.
   */
  running: SessionRef[]
}

/** A session and its remaining time by the database's clock, because this machine's clock may be wrong. */
export interface ClaimedSession {
  session: Session
  leftMs: number
}

/** Claims sessions without a running worker: new ones, and those whose worker died. */
export async function claimSessions(
  db: Db,
  owner: string,
  { kind, free, perTenant, running }: Capacity,
): Promise<ClaimedSession[]> {
  const rows = await db.query(claimStatements[kind], [
    owner,
    free,
    perTenant,
    running.map(({ tenantId }) => tenantId),
    running.map(({ id }) => id),
  ])
  return rows.map((row) => ({ session: toSession(row), leftMs: row.left_ms }))
}

const renewStatement = statement<{ id: string; renewed: boolean }>(
  'sessions-renew',
  // skip locked: a session whose row is locked keeps the lease that it has, and all others are renewed.
  `with free as (
     select tenant_id, id from sessions where id = any($2) and lease_owner = $1 and status in ('launching', 'running')
     order by tenant_id, id for no key update skip locked
   ), renewed as (
     update sessions s set lease_until = now() + make_interval(secs => ${leaseSeconds})
     from free f
     where s.tenant_id = f.tenant_id and s.id = f.id
     returning s.id
   )
   select s.id, r.id is not null as renewed
   from sessions s left join renewed r on r.id = s.id
   where s.id = any($2) and s.lease_owner = $1 and s.status in ('launching', 'running')`,
  { writes: true },
)

/** Renews the leases. Returns the sessions that are still the owner's, and those whose lease was renewed. */
export async function renewLeases(db: Db, owner: string, ids: string[]): Promise<{ held: Set<string>; renewed: Set<string> }> {
  const rows = await db.query(renewStatement, [owner, ids])
  return {
    held: new Set(rows.map(({ id }) => id)),
    renewed: new Set(rows.filter(({ renewed }) => renewed).map(({ id }) => id)),
  }
}

const heldStatement = statement<{ id: string }>(
  'sessions-held',
  `select id from sessions where id = any($2) and lease_owner = $1 and status in ('launching', 'running')`,
)

/** The sessions that are still the owner's to run. */
export async function listHeld(db: Db, owner: string, ids: string[]): Promise<Set<string>> {
  return new Set((await db.query(heldStatement, [owner, ids])).map(({ id }) => id))
}

const releaseStatement = statement<never>(
  'sessions-release',
  `update sessions set lease_owner = null, lease_until = null where id = any($2) and lease_owner = $1`,
)

/** Releases sessions so that another worker can take them at once. */
export async function releaseLeases(db: Db, owner: string, ids: string[]): Promise<void> {
  await db.query(releaseStatement, [owner, ids])
}

const answeredStatement = statement<{ id: string }>(
  'sessions-answered',
  `update sessions
   set answered_seq = greatest(answered_seq, $4), spoke_at = coalesce(spoke_at, now())
   where tenant_id = $1 and id = $2 and lease_owner = $3 and status in ('launching', 'running')
   returning id`,
)

/** Records that the agent has answered this turn. false: the session is no longer the owner's. */
export async function updateAnswered(db: Db, { tenantId, id }: SessionRef, owner: string, seq: number): Promise<boolean> {
  return (await db.query(answeredStatement, [tenantId, id, owner, seq])).length === 1
}

const agentTokenStatement = statement<{ id: string }>(
  'sessions-set-agent-token',
  `update sessions set agent_control_hash = $4
   where tenant_id = $1 and id = $2 and lease_owner = $3 and status = 'launching'
   returning id`,
)

/** Stores the hash of the remote agent's control token. false: the session is no longer the owner's to launch. */
export async function updateAgentToken(db: Db, { tenantId, id }: SessionRef, owner: string, tokenHash: Buffer): Promise<boolean> {
  return (await db.query(agentTokenStatement, [tenantId, id, owner, tokenHash])).length === 1
}

const forgetTokenStatement = statement<never>(
  'sessions-forget-agent-token',
  `update sessions set agent_control_hash = null
   where tenant_id = $1 and id = $2 and lease_owner = $3 and agent_control_hash = $4 and status = 'launching'`,
)

/** Makes a launch that did not reach its agent one that another worker may claim. */
export async function forgetAgentToken(db: Db, { tenantId, id }: SessionRef, owner: string, tokenHash: Buffer): Promise<void> {
  await db.query(forgetTokenStatement, [tenantId, id, owner, tokenHash])
}

const noticesStatement = statement<SessionRow>(
  'sessions-claim-notices',
  `update sessions set notice_due = false
   where (tenant_id, id) in (select tenant_id, id from sessions where notice_due limit 20 for update skip locked)
   returning ${sessionColumns}`,
)

/** Claims sessions that have ended and whose remote agents are to be notified. */
export async function claimEndNotices(db: Db): Promise<Session[]> {
  return (await db.query(noticesStatement, [])).map(toSession)
}
