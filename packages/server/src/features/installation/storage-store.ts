import { statement, type Db } from '#db/database.ts'
import { ownSchema } from '#db/schema-state.ts'

export interface TableSize {
  name: string
  bytes: number
  /** An estimate; null: the table was never analyzed. */
  rows: number | null
}

const tablesStatement = statement<TableSize>(
  'storage-tables',
  // A partition counts for its table, which has no storage itself.
  `select coalesce(pg_partition_root(c.oid), c.oid::regclass)::text as name, sum(pg_total_relation_size(c.oid))::bigint as bytes,
     case when bool_and(c.reltuples < 0) then null else sum(greatest(c.reltuples, 0))::bigint end as rows
   from pg_class c
   where c.relkind = 'r' and c.relnamespace = ${ownSchema}
   group by 1 order by 2 desc, 1`,
)

/** Every table with its indexes and what lies beside its rows, largest first. */
export async function measureTables(db: Db): Promise<TableSize[]> {
  return db.query(tablesStatement, [])
}

const spreadStatement = statement<{ name: string; bytes: number }>(
  'storage-spread-tables',
  // An unreachable node is left out instead of failing the whole.
  `select p.logicalrelid::text as name, coalesce(citus_total_relation_size(p.logicalrelid, fail_on_error => false), 0) as bytes
   from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
   where p.partmethod <> 'n' and not c.relispartition`,
)

/** The tables that Citus spreads, with their shards on all nodes. Only for a database with Citus. */
export async function measureSpreadTables(db: Db): Promise<{ name: string; bytes: number }[]> {
  return db.query(spreadStatement, [])
}
