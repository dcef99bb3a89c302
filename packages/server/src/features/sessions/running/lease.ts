import { statement, type Db } from '#db/database.ts'

/**
 * Who runs a session. A lease is renewed while its holder lives; when it runs out, another worker takes the session over. Everything that
 * the holder writes is written only where the lease is still its own, so that one that was stopped and goes on changes nothing.
 */
export const leaseSeconds = 30

const renewStatement = statement<{ id: string; renewed: boolean }>(
  'sessions-renew',
  // skip locked: a session whose row somebody holds keeps the lease that it has, and all others are renewed.
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

/** Renews the leases. Says which sessions are still the holder's, and which of their leases were renewed. */
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

/** Which of the sessions are still the holder's to run. */
export async function listHeld(db: Db, owner: string, ids: string[]): Promise<Set<string>> {
  return new Set((await db.query(heldStatement, [owner, ids])).map(({ id }) => id))
}

const releaseStatement = statement<never>(
  'sessions-release',
  `update sessions set lease_owner = null, lease_until = null where id = any($2) and lease_owner = $1`,
)

/** Gives sessions up so that another worker takes them at once. */
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

/** Notes that the agent has answered this turn; false: the session is no longer the holder's. */
export async function noteAnswered(
  db: Db,
  { tenantId, id }: { tenantId: string; id: string },
  owner: string,
  seq: number,
): Promise<boolean> {
  return (await db.query(answeredStatement, [tenantId, id, owner, seq])).length === 1
}
