import { statement, type Db } from '#db/database.ts'
import { TenantShards } from './tenant-shards.ts'

const hasShardsStatement = statement<{ found: string | null }>(
  'tenants-has-shards',
  `select to_regclass('pg_catalog.pg_dist_shard')::text as found`,
)
const shardsStatement = statement<{ start: number }>(
  'tenants-shards',
  `select shardminvalue::int as start from pg_dist_shard where logicalrelid = 'items'::regclass`,
)

/** Where the rows of tenants are. */
export async function readTenantShards(db: Db): Promise<TenantShards> {
  const [row] = await db.query(hasShardsStatement, [])
  if (!row?.found) return new TenantShards()
  return new TenantShards((await db.query(shardsStatement, [])).map(({ start }) => start))
}
