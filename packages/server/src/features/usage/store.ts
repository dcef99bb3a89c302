import type { Meter } from '@atrium/contract/usage'
import { statement, type Db } from '#db/database.ts'

/** What is counted here; credits are read off the books. */
export type CountedMeter = Exclude<Meter, 'credits'>

export interface UsageCount {
  tenantId: string
  /** UTC, such as 2026-11-20. */
  day: string
  meter: CountedMeter
  quantity: number
}

/** A batch of counts under a number that rises by one a batch of the same writer. */
export interface UsageBatch {
  writerId: string
  number: number
  counts: UsageCount[]
}

const addStatement = statement<never>(
  'usage-add',
  // The writer's row first: a batch that is there already, because only the answer to it was lost, adds nothing; where its first attempt
  // still runs, this waits for its end. The rows in the order of their key, so that two processes cannot wait for each other in a circle.
  // A tenant that is not there must not keep the counts of the others from being written. No sum leaves what a number can hold exactly.
  `with batch as (
     insert into usage_writers as w (id, last_batch) values ($1, $2)
     on conflict on constraint usage_writers_pkey
       do update set last_batch = excluded.last_batch, written_at = now() where w.last_batch < excluded.last_batch
     returning w.id
   )
   insert into usage_days as d (tenant_id, day, meter, quantity)
   select t.id, c.day, c.meter, c.quantity
   from unnest($3::text[], $4::date[], $5::text[], $6::bigint[]) as c (tenant_id, day, meter, quantity)
   join tenants t on t.id = c.tenant_id
   where exists (select from batch)
   order by t.id, c.day, c.meter
   on conflict on constraint usage_days_pkey
     do update set quantity = least(d.quantity + excluded.quantity, ${Number.MAX_SAFE_INTEGER})`,
  { tries: 'one' },
)

/** Adds the batch to what was used, all of it and once, however often it is sent. */
export async function addUsage(db: Db, { writerId, number, counts }: UsageBatch): Promise<void> {
  await db.query(addStatement, [
    writerId,
    number,
    counts.map(({ tenantId }) => tenantId),
    counts.map(({ day }) => day),
    counts.map(({ meter }) => meter),
    counts.map(({ quantity }) => quantity),
  ])
}

const deleteStatement = statement<never>(
  'usage-delete-writers',
  `delete from usage_writers where written_at < now() - interval '7 days'`,
)

/** Deletes the rows of processes that are gone. */
export async function deleteSilentWriters(db: Db): Promise<void> {
  await db.query(deleteStatement, [])
}

const listStatement = statement<Omit<UsageCount, 'tenantId'>>(
  'usage-list',
  `select to_char(day, 'YYYY-MM-DD') as day, meter, quantity from usage_days where tenant_id = $1 and day between $2 and $3`,
)

/** What was counted for the tenant, both days included, in no order. */
export async function listUsage(
  db: Db,
  tenantId: string,
  fromDay: string,
  toDay: string,
): Promise<Omit<UsageCount, 'tenantId'>[]> {
  return db.query(listStatement, [tenantId, fromDay, toDay])
}
