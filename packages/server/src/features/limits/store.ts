import { type LimitName, limitNames } from '@atrium/contract/limit-names'
import { statement, type Db, type Tx } from '#db/database.ts'
import type { NumberPosition } from '#http/cursor.ts'
import type { Overrides } from '#config/tenant-limits.ts'

type Row = Record<LimitName, number | null>

const columns = limitNames.join(', ')
const findStatement = statement<Row>('tenant-limits-find', `select ${columns} from tenant_limits where tenant_id = $1`)

/** The limits that an operator has set for this tenant. */
export async function findOverrides(db: Db, tenantId: string): Promise<Overrides> {
  const [row] = await db.query(findStatement, [tenantId])
  return Object.fromEntries(Object.entries(row ?? {}).filter(([, value]) => value !== null))
}

const saveStatement = statement<never>(
  'tenant-limits-save',
  // On conflict: a second call replaces all overrides of the tenant.
  `insert into tenant_limits (tenant_id, ${columns}) values ($1, ${limitNames.map((_, i) => `$${i + 2}`).join(', ')})
   on conflict on constraint tenant_limits_pkey do update set ${limitNames.map((name) => `${name} = excluded.${name}`).join(', ')}`,
)

/** Replaces all overrides of the tenant. */
export async function saveOverrides(tx: Tx, tenantId: string, overrides: Overrides): Promise<void> {
  await tx.query(saveStatement, [tenantId, ...limitNames.map((name) => overrides[name] ?? null)])
}

/** What a tenant's daily count is of. */
export interface DailyCount {
  tenantId: string
  /** YYYY-MM-DD */
  day: string
  meter: Extract<LimitName, 'paints_per_address' | 'paints_per_collection' | 'paints_per_day' | 'upload_bytes_per_address'>
  /** The hashed address or the collection's id; empty: the tenant. */
  subject: string
}

const takeStatement = statement<{ used: number }>(
  'daily-counts-take',
  // One statement counts and compares under the row's lock, so that concurrent requests cannot exceed the limit.
  `insert into daily_counts as c (tenant_id, day, meter, subject, used)
   select $1, $2::date, $3, $4, $5::bigint where $5::bigint <= $6::bigint
   on conflict on constraint daily_counts_pkey do update set used = c.used + excluded.used
     where c.used + excluded.used <= $6::bigint
   returning used`,
)

/** Adds the amount if the count stays within the limit. Returns false, and adds nothing, if it does not. */
export async function addToDailyCount(
  tx: Tx,
  { tenantId, day, meter, subject }: DailyCount,
  amount: number,
  limit: number,
): Promise<boolean> {
  return (await tx.query(takeStatement, [tenantId, day, meter, subject, amount, limit])).length === 1
}

const deleteStatement = statement<{ meter: string }>(
  'daily-counts-delete',
  `delete from daily_counts where ctid = any (array(select ctid from daily_counts where day < $1::date limit $2)) returning meter`,
)

/** Deletes up to `limit` counts of earlier days, of any tenant. Returns how many. */
export async function deleteCountsBefore(db: Db, day: string, limit: number): Promise<number> {
  return (await db.query(deleteStatement, [day, limit])).length
}

const storedStatement = statement<{ bytes: number }>('stored-bytes-find', 'select bytes from stored_bytes where tenant_id = $1')

/** The bytes of a tenant's artifacts, which triggers on that table keep. */
export async function findStoredBytes(db: Db, tenantId: string): Promise<number> {
  const [row] = await db.query(storedStatement, [tenantId])
  return row?.bytes ?? 0
}

const sumStoredStatement = statement<{ bytes: number }>(
  'stored-bytes-sum',
  'select coalesce(sum(bytes), 0)::bigint as bytes from stored_bytes',
)

/** The bytes of the artifacts of all tenants. */
export async function sumStoredBytes(db: Db): Promise<number> {
  return (await db.query(sumStoredStatement, []))[0]?.bytes ?? 0
}

const listStoredStatement = statement<{ tenantId: string; bytes: number }>(
  'stored-bytes-list',
  `select tenant_id as "tenantId", bytes from stored_bytes
   where bytes > 0 and (bytes < $1 or bytes = $1 and tenant_id > $2) order by bytes desc, tenant_id limit $3`,
)

/** The tenants with stored bytes after that position, those with most bytes first. */
export async function listStoredBytes(db: Db, after: NumberPosition | undefined, limit: number) {
  return db.query(listStoredStatement, [after?.value ?? Number.MAX_SAFE_INTEGER, after?.id ?? '', limit])
}
