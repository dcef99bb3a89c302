import { statement, type Db, type Tx } from '#db/database.ts'
import { leaseOver } from '#db/lease-over.ts'
import type { ShardGuard } from '#features/distribution/shard-guard.ts'
import { forEach, of, pairsOf, queryEach } from '../store.ts'
import { type EndpointRef, keyOf } from '../webhook.ts'

/**
 * The worker that holds an endpoint's lease sends to the endpoint: one worker at a time, so that one knows how the
 * endpoint performs. The worker renews the lease; when it runs out, another worker takes the endpoint over. Each write
 * of the holder names the lease owner.
 */
const leaseSeconds = 10
/** The longest pause of an endpoint that fails. Up to a tenth is added or taken away at random. */
export const maxPauseSeconds = 5 * 60

export interface ClaimedEndpoint extends EndpointRef {
  url: string
  /** Failures in a row when the endpoint was last released. */
  failures: number
  /** The end of the pause before. A resend changes it. */
  resumeAt: string | null
}

interface ClaimedRow {
  tenant_id: string
  endpoint_id: string
  url: string
  failures: number
  resume_at: string | null
}

/** Steps from endpoint to endpoint through the index of pending deliveries. */
const waitingTexts = {
  default: `waiting (tenant_id, endpoint_id) as (
     (select tenant_id, null::text from webhook_deliveries where status = 'pending' order by tenant_id limit 1)
     union all
     select (select d.tenant_id from webhook_deliveries d
       where d.status = 'pending' and d.tenant_id > w.tenant_id order by d.tenant_id limit 1), null
     from waiting w
     where w.tenant_id is not null
   )`,
  further: `waiting (tenant_id, endpoint_id) as (
     (select tenant_id, endpoint_id from webhook_endpoint_deliveries where status = 'pending' order by tenant_id, endpoint_id limit 1)
     union all
     select n.tenant_id, n.endpoint_id
     from waiting w
     cross join lateral (
       select d.tenant_id, d.endpoint_id from webhook_endpoint_deliveries d
       where d.status = 'pending' and (d.tenant_id, d.endpoint_id) > (w.tenant_id, w.endpoint_id)
       order by d.tenant_id, d.endpoint_id limit 1
     ) n
   )`,
}

const claimStatements = forEach((t) => {
  const isOf = (row: string) => (t.kind === 'further' ? ` and ${row}.endpoint_id = w.endpoint_id` : '')
  return statement<ClaimedRow>(
    `webhooks-claim-${t.kind}`,
    // skip locked: workers that claim at the same moment take different endpoints.
    `with recursive ${waitingTexts[t.kind]}, free as (
       select w.tenant_id, ${t.idOf('w')} as endpoint_id
       from waiting n
       join ${t.endpoints} w on w.tenant_id = n.tenant_id${isOf('n')}
       where w.enabled and ${leaseOver('w.lease_until', leaseSeconds)} and ${leaseOver('w.resume_at', maxPauseSeconds)}
         and (w.tenant_id, ${t.idOf('w')}) not in (select * from unnest($3::text[], $4::text[]))
         and exists (
           select from ${t.deliveries} d
           where d.tenant_id = w.tenant_id${isOf('d')} and d.status = 'pending' and d.next_attempt_at <= now()
         )
       limit $2
       for no key update of w skip locked
     )
     update ${t.endpoints} w set lease_owner = $1, lease_until = now() + make_interval(secs => ${leaseSeconds})
     from free f
     where w.tenant_id = f.tenant_id and ${t.idOf('w')} = f.endpoint_id
     returning w.tenant_id, ${t.idOf('w')} as endpoint_id, w.url, w.failures, w.resume_at`,
  )
})

const claimMarkedStatements = forEach((t) =>
  statement<ClaimedRow>(
    `webhooks-claim-marked-${t.kind}`,
    // Where deliveries are spread over the nodes of a Citus cluster: the endpoints that are marked as due (queue-store.ts), but
    // for those of shards that are left alone.
    `with free as (
       select w.tenant_id, ${t.idOf('w')} as endpoint_id
       from webhook_queues q
       join ${t.endpoints} w on w.tenant_id = q.tenant_id and ${t.idOf('w')} = q.endpoint_id
       where q.due_at <= now() and w.enabled and ${leaseOver('w.lease_until', leaseSeconds)}
         and ${leaseOver('w.resume_at', maxPauseSeconds)}
         and (w.tenant_id, ${t.idOf('w')}) not in (select * from unnest($3::text[], $4::text[]))
         and not exists (
           select from unnest($5::integer[], $6::integer[]) as c (first, last) where hashtext(q.tenant_id) between c.first and c.last
         )
       limit $2
       for no key update of w skip locked
     )
     update ${t.endpoints} w set lease_owner = $1, lease_until = now() + make_interval(secs => ${leaseSeconds})
     from free f
     where w.tenant_id = f.tenant_id and ${t.idOf('w')} = f.endpoint_id
     returning w.tenant_id, ${t.idOf('w')} as endpoint_id, w.url, w.failures, w.resume_at`,
  ),
)

interface ClaimTerms {
  limit: number
  /**
   * The endpoints of runs that have not ended. If this process leased one again, the old run could still write, to the
   * state of the new one.
   */
  except: EndpointRef[]
  guard: ShardGuard
}

/** Claims endpoints that have a due delivery and no worker. */
export async function claimEndpoints(db: Db, owner: string, { limit, except, guard }: ClaimTerms): Promise<ClaimedEndpoint[]> {
  const { firsts, lasts } = guard.closed()
  const { statements, values } = guard.shards.isSpread
    ? { statements: claimMarkedStatements, values: [firsts, lasts] }
    : { statements: claimStatements, values: [] }
  const more = [...pairsOf(except), ...values]
  const rows = await db.query(statements.default, [owner, limit, ...more])
  if (rows.length < limit) rows.push(...(await db.query(statements.further, [owner, limit - rows.length, ...more])))
  return rows.map((row) => ({
    tenantId: row.tenant_id,
    endpointId: row.endpoint_id,
    url: row.url,
    failures: row.failures,
    resumeAt: row.resume_at,
  }))
}

interface HeldRow {
  tenant_id: string
  endpoint_id: string
}

const heldTexts = forEach<HeldRow>((t) =>
  statement<HeldRow>(
    `webhooks-held-${t.kind}`,
    `select w.tenant_id, ${t.idOf('w')} as endpoint_id from ${t.endpoints} w
     where (w.tenant_id, ${t.idOf('w')}) in (select * from unnest($2::text[], $3::text[])) and w.lease_owner = $1`,
  ),
)

const renewStatements = forEach<HeldRow>((t) =>
  statement<HeldRow>(
    `webhooks-renew-${t.kind}`,
    // skip locked: an endpoint whose row is locked keeps the lease that it has, and all others are renewed.
    `with free as (
       select w.tenant_id, ${t.idOf('w')} as endpoint_id from ${t.endpoints} w
       where (w.tenant_id, ${t.idOf('w')}) in (select * from unnest($2::text[], $3::text[])) and w.lease_owner = $1
       order by w.tenant_id, endpoint_id for no key update skip locked
     ), renewed as (
       update ${t.endpoints} w set lease_until = now() + make_interval(secs => ${leaseSeconds})
       from free f
       where w.tenant_id = f.tenant_id and ${t.idOf('w')} = f.endpoint_id
     )
     ${heldTexts[t.kind].text}`,
    { writes: true },
  ),
)

async function keysOf(db: Db, statements: typeof heldTexts, owner: string, refs: EndpointRef[]): Promise<Set<string>> {
  const rows = await queryEach(db, statements, refs, (some) => [owner, ...pairsOf(some)])
  return new Set(rows.map((row) => keyOf({ tenantId: row.tenant_id, endpointId: row.endpoint_id })))
}

/** Renews the leases; returns the keys of the endpoints that are still the owner's. */
export function renewLeases(db: Db, owner: string, refs: EndpointRef[]): Promise<Set<string>> {
  return keysOf(db, renewStatements, owner, refs)
}

/** The keys of the endpoints that are still the owner's. */
export function listHeld(db: Db, owner: string, refs: EndpointRef[]): Promise<Set<string>> {
  return keysOf(db, heldTexts, owner, refs)
}

const releaseStatements = forEach((t) =>
  statement<never>(
    `webhooks-release-${t.kind}`,
    `update ${t.endpoints} w
     set lease_owner = null, lease_until = null, failures = $4,
       resume_at = case when w.resume_at is distinct from $6::timestamptz then w.resume_at else now() + make_interval(secs => $5::float8 / 1000) end
     where w.tenant_id = $2 and ${t.idOf('w')} = $3 and w.lease_owner = $1`,
  ),
)

interface Release extends Pick<ClaimedEndpoint, 'failures' | 'resumeAt'> {
  pauseMs: number
}

/**
 * Releases an endpoint. No worker claims it before the pause ends. If `resumeAt` is another one now, somebody has sent
 * deliveries again since the claim, and there is no pause.
 */
export async function releaseEndpoint(
  db: Db,
  owner: string,
  ref: EndpointRef,
  { failures, resumeAt, pauseMs }: Release,
): Promise<void> {
  await db.query(of(releaseStatements, ref), [owner, ref.tenantId, ref.endpointId, failures, pauseMs, resumeAt])
}

const disableStatements = forEach((t) =>
  statement<{ failing_since: string }>(
    `webhooks-disable-${t.kind}`,
    `update ${t.endpoints} w set enabled = false
     where w.tenant_id = $2 and ${t.idOf('w')} = $3 and w.lease_owner = $1 and w.enabled
       and ($4 or w.failing_since <= now() - interval '5 days')
     returning coalesce(w.failing_since, now()) as failing_since`,
  ),
)

/** Disables an endpoint that is gone, or that has only failed for five days; undefined: neither is so. */
export async function disableWebhook(
  tx: Tx,
  owner: string,
  ref: EndpointRef,
  reason: 'gone' | 'failing',
): Promise<{ failingSince: string } | undefined> {
  const [row] = await tx.query(of(disableStatements, ref), [owner, ref.tenantId, ref.endpointId, reason === 'gone'])
  return row && { failingSince: row.failing_since }
}
