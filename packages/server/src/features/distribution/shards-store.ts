import { statement, type Db } from '#db/database.ts'

const hasShardsStatement = statement<{ found: string | null }>(
  'tenants-has-shards',
  `select to_regclass('pg_catalog.pg_dist_shard')::text as found`,
)
const shardsStatement = statement<{ start: number }>(
  'tenants-shards',
  `select shardminvalue::int as start from pg_dist_shard where logicalrelid = 'items'::regclass`,
)

/** Where the shards of tenants begin in the range of hashes; empty if their rows are in one place. */
export async function listShardStarts(db: Db): Promise<number[]> {
  const [row] = await db.query(hasShardsStatement, [])
  if (!row?.found) return []
  return (await db.query(shardsStatement, [])).map(({ start }) => start)
}
