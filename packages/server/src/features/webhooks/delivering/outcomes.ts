import { Batcher } from '@atrium/traffic/batcher'
import { statement, type Db } from '../../../db/database.ts'
import type { Attempt } from '../send-event.ts'

/** What became of a try, on its way into the table. */
export interface Outcome extends Attempt {
  tenantId: string
  sequence: number
  /** undefined: it is not tried again. */
  retryInMs: number | undefined
}

const writeStatement = statement<{ tenant_id: string; sequence: number }>(
  'webhooks-outcomes',
  // failing_since is of one piece with it: a success that is written down ends it, whatever becomes of this process.
  `with outcome as (
     select o.*
     from unnest($2::text[], $3::bigint[], $4::boolean[], $5::integer[], $6::text[], $7::float8[])
       as o (tenant_id, sequence, succeeded, response_status, error, retry_in_ms)
     join webhooks w on w.tenant_id = o.tenant_id and w.lease_owner = $1
   ), marked as (
     update webhooks w
     set failing_since = case when n.any_succeeded then null else now() end
     from (select tenant_id, bool_or(succeeded) as any_succeeded from outcome group by tenant_id) n
     where w.tenant_id = n.tenant_id and n.any_succeeded = (w.failing_since is not null)
   )
   update webhook_deliveries d
   set status = case when o.succeeded then 'succeeded' when o.retry_in_ms is null then 'failed' else 'pending' end,
     tries = d.tries + 1, attempts = d.attempts + 1, response_status = o.response_status, error = o.error, last_attempt_at = now(),
     next_attempt_at = case when not o.succeeded then now() + make_interval(secs => o.retry_in_ms / 1000) end
   from outcome o
   where d.tenant_id = o.tenant_id and d.sequence = o.sequence
   returning d.tenant_id, d.sequence`,
)

/** Writes down what became of tries; those that end while the last batch is written share the next one. */
export type OutcomeWriter = Batcher<Outcome, void>

export function openOutcomeWriter(db: Db, owner: string): OutcomeWriter {
  // One batch at a time: two at once could lock their webhooks' rows in different orders.
  return new Batcher({ maxSize: 256, concurrency: 1, run: (outcomes) => writeOutcomes(db, owner, outcomes) })
}

async function writeOutcomes(db: Db, owner: string, outcomes: Outcome[]): Promise<void[]> {
  await db.query(writeStatement, [
    owner,
    outcomes.map(({ tenantId }) => tenantId),
    outcomes.map(({ sequence }) => sequence),
    outcomes.map(({ succeeded }) => succeeded),
    outcomes.map(({ responseStatus }) => responseStatus),
    outcomes.map(({ error }) => error),
    outcomes.map(({ retryInMs }) => retryInMs ?? null),
  ])
  return outcomes.map(() => undefined)
}
