import type { Meter } from '@atrium/contract/usage'
import { statement, type Db, type Tx } from '#db/database.ts'

/** The meters of usage_days. Credits are read from the ledger. */
export type CountedMeter = Exclude<Meter, 'credits'>

/** The columns of a tenant's count. Rows need no mapping. */
interface DayCount {
  /** In UTC, such as 2026-11-20. */
  day: string
  meter: CountedMeter
  quantity: number
}

/** The requests and bytes of a tenant on one day, as one process counted them. */
export interface Traffic {
  tenantId: string
  /** In UTC, such as 2026-11-20. */
  day: string
  requests: number
  bytes: number
}

/** A batch of counts. Its number is one more than that of the writer's previous batch. */
export interface TrafficBatch {
  writerId: string
  number: number
  traffic: Traffic[]
}

const addTrafficStatement = statement<never>(
  'usage-add-traffic',
  // The writer's row comes first. A batch that was committed although its answer was lost then adds nothing; if its
  // first attempt still runs, this one waits for it. The order by keeps two processes from a deadlock. The join
  // with tenants skips unknown tenants, whose counts would fail the whole batch. The condition on tenant_deletions
  // skips tenants whose rows are being removed: counts can be a minute older than the removal, and would stay. Both
  // tables are those of the tenants feature. least() keeps sums within the integers that a number holds exactly.
  `with batch as (
     insert into usage_writers as w (id, last_batch) values ($1, $2)
     on conflict on constraint usage_writers_pkey
       do update set last_batch = excluded.last_batch, written_at = now() where w.last_batch < excluded.last_batch
     returning w.id
   )
   insert into usage_traffic as d (tenant_id, day, requests, bytes)
   select t.id, c.day, c.requests, c.bytes
   from unnest($3::text[], $4::date[], $5::bigint[], $6::bigint[]) as c (tenant_id, day, requests, bytes)
   join tenants t on t.id = c.tenant_id
   where exists (select from batch)
     and not exists (select from tenant_deletions x where x.tenant_id = t.id and x.started_at is not null)
   order by t.id, c.day
   on conflict on constraint usage_traffic_pkey
     do update set requests = least(d.requests + excluded.requests, ${Number.MAX_SAFE_INTEGER}),
       bytes = least(d.bytes + excluded.bytes, ${Number.MAX_SAFE_INTEGER})`,
  { tries: 'one' },
)

/** Adds the whole batch, of any tenant, exactly once, however often it is sent. */
export async function addTraffic(db: Db, { writerId, number, traffic }: TrafficBatch): Promise<void> {
  await db.query(addTrafficStatement, [
    writerId,
    number,
    traffic.map(({ tenantId }) => tenantId),
    traffic.map(({ day }) => day),
    traffic.map(({ requests }) => requests),
    traffic.map(({ bytes }) => bytes),
  ])
}

const addStatement = statement<never>(
  'usage-add',
  `insert into usage_days as d (tenant_id, day, meter, quantity) values ($1, (now() at time zone 'UTC')::date, $2, 1)
   on conflict on constraint usage_days_pkey do update set quantity = d.quantity + 1`,
)

/**
 * Counts one paint or launch of today. Call it after all that may wait for a lock: until the commit, the tenant's
 * other paints or launches wait for the row.
 */
export async function countOne(tx: Tx, tenantId: string, meter: 'paints' | 'launches'): Promise<void> {
  await tx.query(addStatement, [tenantId, meter])
}

const collectItemsStatement = statement<{ taken: number }>(
  'usage-collect-items',
  // No transaction still adds to a row of a past day, because none takes an hour.
  `with past as (
     select tenant_id, day, collection_id, part from usage_items
     where day < ((now() - interval '1 hour') at time zone 'UTC')::date
     order by tenant_id, day, collection_id, part limit $1 for update skip locked
   ), taken as (
     delete from usage_items u using past p
     where u.tenant_id = p.tenant_id and u.day = p.day and u.collection_id = p.collection_id and u.part = p.part
     returning u.tenant_id, u.day, u.items
   ), written as (
     insert into usage_days as d (tenant_id, day, meter, quantity)
     select tenant_id, day, 'items', sum(items)::bigint from taken group by tenant_id, day order by tenant_id, day
     on conflict on constraint usage_days_pkey do update set quantity = d.quantity + excluded.quantity
   )
   select count(*)::int as taken from taken`,
  { writes: true },
)

/**
 * Moves up to `limit` rows of past days, which count items per collection, into the counts of the tenants. Returns how
 * many rows were moved.
 */
export async function collectPastItems(db: Db, limit: number): Promise<number> {
  const [row] = await db.query(collectItemsStatement, [limit])
  return row?.taken ?? 0
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
  // One snapshot of all three tables, so that items that a sweep moves meanwhile are counted once.
  `select to_char(day, 'YYYY-MM-DD') as day, meter, quantity from usage_days where tenant_id = $1 and day between $2 and $3
   union all
   select to_char(t.day, 'YYYY-MM-DD'), m.meter, m.quantity
   from usage_traffic t
   cross join lateral (values ('requests', t.requests), ('bytes', t.bytes)) as m (meter, quantity)
   where t.tenant_id = $1 and t.day between $2 and $3
   union all
   select to_char(day, 'YYYY-MM-DD'), 'items', sum(items)::bigint
   from usage_items where tenant_id = $1 and day between $2 and $3 group by day`,
)

/** The tenant's counts, both days included, in no order; a day may have several of one meter. */
export async function listUsage(db: Db, tenantId: string, fromDay: string, toDay: string): Promise<DayCount[]> {
  return db.query(listStatement, [tenantId, fromDay, toDay])
}
