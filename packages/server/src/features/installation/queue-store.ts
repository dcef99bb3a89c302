import { statement, type Db } from '#db/database.ts'
import { currentHolds } from '#features/blob-deletions/hold-store.ts'
import type { ByShard } from '#features/distribution/by-shard.ts'

/** A queue of the database, as all workers of an installation share it. */
export interface QueueState {
  name: QueueName
  /** Entries that are due and not taken by a worker. At most `most`. */
  depth: number
  /** How long the oldest of these has waited; 0 if there is none. */
  oldestSeconds: number
}

/** The count stops here, so that a measurement of a long queue is as cheap as one of a short queue. */
const most = 10_000

const queues = {
  artifact_jobs: `select run_at as since from artifact_jobs
    where run_at <= now() and (lease_until is null or lease_until < now())`,
  // One that has failed waits although it is not due. While a backup runs, all of them wait on purpose.
  blob_deletions: `select queued_at as since from blob_deletions
    where not exists (${currentHolds})`,
  event_outbox: 'select created_at as since from event_outbox',
  // A remote agent that was notified runs without a worker.
  sessions: `select greatest(created_at, lease_until) as since from sessions
    where status in ('launching', 'running') and (lease_until is null or lease_until < now()) and expires_at > now()
      and (not is_remote or (status = 'launching' and agent_control_hash is null))`,
  // Steps from endpoint to endpoint, because a disabled one may have many deliveries.
  webhook_deliveries: `select due.since from webhooks w cross join lateral (
      select d.next_attempt_at as since from webhook_deliveries d
      where d.tenant_id = w.tenant_id and d.status = 'pending' and d.next_attempt_at <= now()
      limit ${most}
    ) due
    where w.enabled and (w.resume_at is null or w.resume_at <= now())
    union all
    select due.since from webhook_endpoints w cross join lateral (
      select d.next_attempt_at as since from webhook_endpoint_deliveries d
      where d.tenant_id = w.tenant_id and d.endpoint_id = w.endpoint_id and d.status = 'pending' and d.next_attempt_at <= now()
      limit ${most}
    ) due
    where w.enabled and (w.resume_at is null or w.resume_at <= now())`,
}

type QueueName = keyof typeof queues

interface QueueRow {
  name: QueueName
  depth: number
  seconds: number
}

const measuring = (name: string, measured: readonly [string, string][]) =>
  statement<QueueRow>(
    name,
    measured
      .map(
        ([queue, due]) => `select '${queue}' as name, count(*) as depth,
        coalesce(extract(epoch from now() - min(since)), 0)::float8 as seconds
        from (${due} limit ${most}) due`,
      )
      .join(' union all '),
  )

const queuesStatement = measuring('queues-measure', Object.entries(queues))
const localStatement = measuring(
  'queues-measure-local',
  Object.entries(queues).filter(([name]) => name !== 'webhook_deliveries'),
)

/** The state of every queue at this moment. */
export async function measureQueues(db: Db, byShard: ByShard): Promise<QueueState[]> {
  if (!byShard.isSpread) return (await db.query(queuesStatement, [])).map(toState)
  return [...(await db.query(localStatement, [])).map(toState), await measureDeliveries(db, byShard)]
}

function toState({ name, depth, seconds }: QueueRow): QueueState {
  return { name, depth, oldestSeconds: Math.max(0, seconds) }
}

interface MarkedRow {
  tenant_id: string
  endpoint_id: string
  seconds: number
}

const markedStatement = statement<MarkedRow>(
  'queues-marked-endpoints',
  `select q.tenant_id, q.endpoint_id, extract(epoch from now() - q.due_at)::float8 as seconds from webhook_queues q
   left join webhooks w on q.endpoint_id = 'default' and w.tenant_id = q.tenant_id
   left join webhook_endpoints f on f.tenant_id = q.tenant_id and f.endpoint_id = q.endpoint_id
   where q.due_at <= now() and coalesce(w.enabled, f.enabled) and coalesce(w.resume_at, f.resume_at, now()) <= now()
   order by q.due_at limit ${most}`,
)

const isDue = `d.status = 'pending' and d.next_attempt_at <= now()`
const depthStatement = measuring('queues-measure-deliveries', [
  // Citus sends it to one node because of the arrays.
  [
    'webhook_deliveries',
    `select d.next_attempt_at as since from webhook_deliveries d where d.tenant_id = any ($1::text[]) and ${isDue}`,
  ],
  [
    'webhook_deliveries',
    `select d.next_attempt_at as since from webhook_endpoint_deliveries d
     where d.tenant_id = any ($2::text[]) and (d.tenant_id, d.endpoint_id) in (select * from unnest($2::text[], $3::text[])) and ${isDue}`,
  ],
])

/**
 * Where deliveries are spread over the nodes of a Citus cluster: those of the endpoints that are marked as due, shard by
 * shard. An endpoint whose shard does not answer counts as one delivery.
 */
async function measureDeliveries(db: Db, byShard: ByShard): Promise<QueueState> {
  const marked = await db.query(markedStatement, [])
  const ofTenants = Map.groupBy(marked, (row) => row.tenant_id)
  const measure = (tenantIds: string[]) => {
    const [first, further] = [true, false].map((isFirst) =>
      tenantIds.flatMap((id) => (ofTenants.get(id) ?? []).filter((row) => (row.endpoint_id === 'default') === isFirst)),
    ) as [MarkedRow[], MarkedRow[]]
    const tenantsOf = (rows: MarkedRow[]) => rows.map((row) => row.tenant_id)
    return db.query(depthStatement, [tenantsOf(first), tenantsOf(further), further.map((row) => row.endpoint_id)])
  }
  const { results, failed } = await byShard.run([...ofTenants.keys()], measure)
  const unknown = [...failed.keys()].flatMap((id) => ofTenants.get(id) ?? []).map(({ seconds }) => ({ depth: 1, seconds }))
  const parts = [...results.flat(), ...unknown]
  return toState({
    name: 'webhook_deliveries',
    depth: Math.min(most, sumOf(parts.map(({ depth }) => depth))),
    seconds: Math.max(0, ...parts.map(({ seconds }) => seconds)),
  })
}

const sumOf = (numbers: number[]): number => numbers.reduce((sum, each) => sum + each, 0)

const sizeStatement = statement<{ bytes: number }>('database-measure', 'select pg_database_size(current_database()) as bytes')

/** The size of the database in bytes. */
export async function measureDatabase(db: Db): Promise<number> {
  return (await db.query(sizeStatement, []))[0]?.bytes ?? 0
}
