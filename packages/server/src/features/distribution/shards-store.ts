import { distributionLockKey } from '@atrium/traffic/shards'
import { statement, type Db } from '#db/database.ts'
import { StartError } from '#errors/start-error.ts'
import { listSpread } from './placements.ts'
import { TenantShards } from './tenant-shards.ts'

// atrium distribute takes the lock before it looks for other sessions. So it finds this one, or the lock is not free.
const hasShardsStatement = statement<{ found: string | null; free: boolean }>(
  'tenants-has-shards',
  `select to_regclass('pg_catalog.pg_dist_shard')::text as found, pg_try_advisory_xact_lock_shared(${distributionLockKey}) as free`,
)
const shardsStatement = statement<{ start: number; node: number }>(
  'tenants-shards',
  `select s.shardminvalue::int as start, min(p.groupid) as node
   from pg_dist_shard s join pg_dist_placement p on p.shardid = s.shardid
   where s.logicalrelid = 'items'::regclass group by 1 order by 1`,
)

const missingStatement = statement<{ name: string }>(
  'tenants-not-spread',
  `select n.name from unnest($1::text[]) as n (name)
   where not exists (select from pg_dist_partition p where p.logicalrelid = n.name::regclass and p.partmethod = 'h') order by 1`,
)

/**
 * Where the rows of tenants are. Throws StartError while they are moved, and if only some of their tables are spread: an
 * earlier release has spread them, and statements of this one expect all.
 */
export async function readTenantShards(db: Db): Promise<TenantShards> {
  const [row] = await db.query(hasShardsStatement, [])
  if (!row?.found) return new TenantShards()
  if (!row.free) throw new StartError('atrium distribute is moving tables of this database: start again when it has ended')
  const rows = await db.query(shardsStatement, [])
  const shards = new TenantShards(
    rows.map(({ start }) => start),
    rows.map(({ node }) => node),
  )
  const missing = shards.isSpread ? await db.query(missingStatement, [listSpread('tenants')]) : []
  if (missing.length > 0) {
    const names = missing.map(({ name }) => name).join(', ')
    throw new StartError(`this release also spreads ${names} over the nodes: stop all processes and run atrium distribute`)
  }
  return shards
}
