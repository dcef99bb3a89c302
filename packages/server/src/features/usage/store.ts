import type { Meter } from '@atrium/contract/usage'
import { statement, type Db } from '#db/database.ts'

/** The meters that are counted in memory. Credits are read from the ledger. */
export type CountedMeter = Exclude<Meter, 'credits'>

/** The columns of a tenant's count. The row needs no mapping. */
interface DayCount {
  /** In UTC, such as 2026-11-20. */
  day: string
  meter: CountedMeter
  quantity: number
}

export interface UsageCount extends DayCount {
  tenantId: string
}

/** A batch of counts. Its number is one more than that of the writer's previous batch. */
export interface UsageBatch {
  writerId: string
  number: number
  counts: UsageCount[]
}

const addStatement = statement<never>(
  'usage-add',
  // The writer's row comes first. A batch that was committed although its answer was lost then adds nothing; if its
  // first attempt still runs, this one waits for it. The order by keeps two processes from a deadlock. The join with
  // the tenants feature's table skips deleted tenants, whose counts would fail the whole batch. least() keeps sums
  // within the integers that a number holds exactly.
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

/** Adds the whole batch, of any tenant, exactly once, however often it is sent. */
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

const deleteWritersStatement = statement<never>(
  'usage-delete-writers',
  `delete from usage_writers where written_at < now() - interval '7 days'`,
)

/** Deletes the rows of processes that have stopped. */
export async function deleteStoppedWriters(db: Db): Promise<void> {
  await db.query(deleteWritersStatement, [])
}

const listStatement = statement<DayCount>(
  'usage-list',
  `select to_char(day, 'YYYY-MM-DD') as day, meter, quantity from usage_days where tenant_id = $1 and day between $2 and $3`,
)

/** The tenant's counts, both days included, in no order. */
export async function listUsage(db: Db, tenantId: string, fromDay: string, toDay: string): Promise<DayCount[]> {
  return db.query(listStatement, [tenantId, fromDay, toDay])
}
