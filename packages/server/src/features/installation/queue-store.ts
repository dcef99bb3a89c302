import { statement, type Db } from '#db/database.ts'

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
  blob_deletions: 'select due_at as since from blob_deletions where due_at <= now()',
  event_outbox: 'select created_at as since from event_outbox',
  sessions: `select greatest(created_at, lease_until) as since from sessions
    where status in ('launching', 'running') and (lease_until is null or lease_until < now())`,
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

const queuesStatement = statement<{ name: QueueName; depth: number; seconds: number }>(
  'queues-measure',
  Object.entries(queues)
    .map(
      ([name, due]) => `select '${name}' as name, count(*) as depth,
        coalesce(extract(epoch from now() - min(since)), 0)::float8 as seconds
        from (${due} limit ${most}) due`,
    )
    .join(' union all '),
)

/** The state of every queue at this moment. */
export async function measureQueues(db: Db): Promise<QueueState[]> {
  const rows = await db.query(queuesStatement, [])
  return rows.map(({ name, depth, seconds }) => ({ name, depth, oldestSeconds: Math.max(0, seconds) }))
}

const sizeStatement = statement<{ bytes: number }>('database-measure', 'select pg_database_size(current_database()) as bytes')

/** The size of the database in bytes. */
export async function measureDatabase(db: Db): Promise<number> {
  return (await db.query(sizeStatement, []))[0]?.bytes ?? 0
}
