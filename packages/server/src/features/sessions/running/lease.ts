import { statement, type Db } from '../../../db/database.ts'

/**
 * Who runs a session. A lease is renewed while its holder lives; when it runs out, another worker takes the session over. Everything that
 * the holder writes is written only where the lease is still its own, so that one that was stopped and goes on changes nothing.
 */
export const leaseSeconds = 30

const renewStatement = statement<{ id: string }>(
  'sessions-renew',
  `update sessions set lease_until = now() + make_interval(secs => ${leaseSeconds})
   where id = any($2) and lease_owner = $1 and status in ('launching', 'running')
   returning id`,
)

/** Renews the leases; tells which are still the holder's. */
export async function renewLeases(db: Db, owner: string, ids: string[]): Promise<Set<string>> {
  return new Set((await db.query(renewStatement, [owner, ids])).map(({ id }) => id))
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
