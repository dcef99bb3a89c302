import { statement, type Db, type Tx } from '#db/database.ts'

/**
 * The worker that holds an endpoint's lease sends to the endpoint: one worker at a time, so that one knows how the
 * endpoint performs. The worker renews the lease; when it runs out, another worker takes the endpoint over. Each write
 * of the holder names the lease owner.
 */
const leaseSeconds = 10

export interface ClaimedEndpoint {
  tenantId: string
  url: string
  /** Failures in a row when the endpoint was last released. */
  failures: number
}

const claimStatement = statement<{ tenant_id: string; url: string; failures: number }>(
  'webhooks-claim',
  // Steps from tenant to tenant through the index of pending deliveries. skip locked: workers that claim at the same
  // moment take different endpoints.
  `with recursive waiting (tenant_id) as (
     (select tenant_id from webhook_deliveries where status = 'pending' order by tenant_id limit 1)
     union all
     select (select d.tenant_id from webhook_deliveries d
       where d.status = 'pending' and d.tenant_id > w.tenant_id order by d.tenant_id limit 1)
     from waiting w
     where w.tenant_id is not null
   ), free as (
     select w.tenant_id
     from waiting n
     join webhooks w on w.tenant_id = n.tenant_id
     where w.enabled and (w.lease_until is null or w.lease_until < now()) and (w.resume_at is null or w.resume_at <= now())
       and exists (
         select from webhook_deliveries d where d.tenant_id = w.tenant_id and d.status = 'pending' and d.next_attempt_at <= now()
       )
     limit $2
     for no key update of w skip locked
   )
   update webhooks w set lease_owner = $1, lease_until = now() + make_interval(secs => ${leaseSeconds})
   from free f
   where w.tenant_id = f.tenant_id
   returning w.tenant_id, w.url, w.failures`,
)

/** Claims endpoints that have a due delivery and no worker. */
export async function claimEndpoints(db: Db, owner: string, limit: number): Promise<ClaimedEndpoint[]> {
  const rows = await db.query(claimStatement, [owner, limit])
  return rows.map(({ tenant_id: tenantId, url, failures }) => ({ tenantId, url, failures }))
}

const renewStatement = statement<{ tenant_id: string }>(
  'webhooks-renew',
  // skip locked: an endpoint whose row is locked keeps the lease that it has, and all others are renewed.
  `with free as (
     select tenant_id from webhooks where tenant_id = any($2) and lease_owner = $1 order by tenant_id for no key update skip locked
   ), renewed as (
     update webhooks w set lease_until = now() + make_interval(secs => ${leaseSeconds})
     from free f
     where w.tenant_id = f.tenant_id
   )
   select tenant_id from webhooks where tenant_id = any($2) and lease_owner = $1`,
  { writes: true },
)

/** Renews the leases; returns the endpoints that are still the owner's. */
export async function renewLeases(db: Db, owner: string, tenantIds: string[]): Promise<Set<string>> {
  return new Set((await db.query(renewStatement, [owner, tenantIds])).map((row) => row.tenant_id))
}

const heldStatement = statement<{ tenant_id: string }>(
  'webhooks-held',
  'select tenant_id from webhooks where tenant_id = any($2) and lease_owner = $1',
)

/** The endpoints that are still the owner's. */
export async function listHeld(db: Db, owner: string, tenantIds: string[]): Promise<Set<string>> {
  return new Set((await db.query(heldStatement, [owner, tenantIds])).map((row) => row.tenant_id))
}

const releaseStatement = statement<never>(
  'webhooks-release',
  `update webhooks
   set lease_owner = null, lease_until = null, failures = $3, resume_at = now() + make_interval(secs => $4::float8 / 1000)
   where tenant_id = $2 and lease_owner = $1`,
)

/** Releases an endpoint. No worker claims it before the pause ends. */
export async function releaseEndpoint(
  db: Db,
  owner: string,
  tenantId: string,
  { failures, pauseMs }: { failures: number; pauseMs: number },
): Promise<void> {
  await db.query(releaseStatement, [owner, tenantId, failures, pauseMs])
}

const disableStatement = statement<{ failing_since: string }>(
  'webhooks-disable',
  `update webhooks set enabled = false
   where tenant_id = $2 and lease_owner = $1 and enabled and ($3 or failing_since <= now() - interval '5 days')
   returning coalesce(failing_since, now()) as failing_since`,
)

/** Disables an endpoint that is gone, or that has only failed for five days; undefined: neither is so. */
export async function disableWebhook(
  tx: Tx,
  owner: string,
  tenantId: string,
  reason: 'gone' | 'failing',
): Promise<{ failingSince: string } | undefined> {
  const [row] = await tx.query(disableStatement, [owner, tenantId, reason === 'gone'])
  return row && { failingSince: row.failing_since }
}
