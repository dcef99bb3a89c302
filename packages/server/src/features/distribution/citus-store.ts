import { distributionLockKey } from '@atrium/traffic/shards'
import { ownSchema, type Queryable } from '#db/schema-state.ts'

/** What Citus says about this database; undefined: the extension is not installed in it. */
export interface Cluster {
  isCoordinator: boolean
  workers: number
}

export async function findCluster(db: Queryable): Promise<Cluster | undefined> {
  const installed = await db.query("select 1 from pg_extension where extname = 'citus'")
  if (installed.rows.length === 0) return undefined
  const { rows } = await db.query<{ coordinator: boolean; workers: string }>(
    `select citus_is_coordinator()::text = 'true' as coordinator, (select count(*) from citus_get_active_worker_nodes())::text as workers`,
  )
  const [row] = rows
  return { isCoordinator: String(row?.coordinator) === 'true', workers: Number(row?.workers ?? 0) }
}

/** Until the session ends, no process starts. */
export async function holdOffStarts(db: Queryable): Promise<void> {
  await db.query(`select pg_advisory_lock(${distributionLockKey})`)
}

/** A session of another program. */
export interface Other {
  name: string
  /** False: it has another role, and may also be a part of PostgreSQL. */
  isVisible: boolean
}

/**
 * The other programs that are connected to this database. Citus' own connections are left out. Without the rights of
 * pg_read_all_stats, backend_type is null for sessions of other roles; their role and name are visible.
 */
export async function listOtherPrograms(db: Queryable): Promise<Other[]> {
  const { rows } = await db.query<{ name: string; known: string }>(
    `select distinct coalesce(nullif(application_name, ''), 'without a name') as name, (backend_type is not null)::text as known
       from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and application_name not like 'citus\\_%'
        and (backend_type = 'client backend'
          or (backend_type is null and usesysid is not null and application_name <> 'Citus Maintenance Daemon'))
      order by 1`,
  )
  return rows.map(({ name, known }) => ({ name, isVisible: known === 'true' }))
}

/** The tables whose rows are spread over nodes; empty without Citus. */
export async function listSpreadTables(db: Queryable): Promise<string[]> {
  if (!(await findCluster(db))) return []
  const { rows } = await db.query<{ name: string }>(
    `select c.relname::text as name from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
      where p.partmethod = 'h' and c.relnamespace = ${ownSchema} order by 1`,
  )
  return rows.map(({ name }) => name)
}

export async function countShards(db: Queryable, table: string): Promise<number> {
  const { rows } = await db.query<{ count: string }>(
    `select count(*)::text as count from pg_dist_shard where logicalrelid = '${table}'::regclass`,
  )
  return Number(rows[0]?.count ?? 0)
}

/** Counts the rows of a table and keeps writers from it until the transaction ends. */
export async function lockAndCount(db: Queryable, table: string): Promise<number> {
  await db.query(`lock table ${table} in exclusive mode`)
  return countRows(db, table)
}

export async function countRows(db: Queryable, table: string): Promise<number> {
  const { rows } = await db.query<{ count: string }>(`select count(*)::text as count from ${table}`)
  return Number(rows[0]?.count ?? 0)
}

export async function listTriggers(db: Queryable, table: string): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select tgname::text as name from pg_trigger where tgrelid = '${table}'::regclass and not tgisinternal order by 1`,
  )
  return rows.map(({ name }) => name)
}

export async function dropTrigger(db: Queryable, table: string, trigger: string): Promise<void> {
  await db.query(`drop trigger ${trigger} on ${table}`)
}

/** Adds a statement trigger that runs the function of its name after each insert. Returns false if it is there. */
export async function addTrigger(db: Queryable, table: string, trigger: string): Promise<boolean> {
  if ((await listTriggers(db, table)).includes(trigger)) return false
  await db.query(`create trigger ${trigger} after insert on ${table} for each statement execute function ${trigger}()`)
  return true
}

export interface ForeignKey {
  table: string
  target: string
  name: string
  ddl: string
}

/** The foreign keys from or to one of the tables. */
export async function listForeignKeys(db: Queryable, tables: readonly string[]): Promise<ForeignKey[]> {
  const { rows } = await db.query<ForeignKey>(
    `select conrelid::regclass::text as table, confrelid::regclass::text as target, conname::text as name, pg_get_constraintdef(oid) as ddl
       from pg_constraint
      where contype = 'f' and (conrelid::regclass::text = any ($1::text[]) or confrelid::regclass::text = any ($1::text[]))
      order by 1, 3`,
    [tables],
  )
  return rows
}

export async function dropForeignKey(db: Queryable, { table, name }: ForeignKey): Promise<void> {
  await db.query(`alter table ${table} drop constraint ${name}`)
}

export async function addForeignKey(db: Queryable, { table, name, ddl }: ForeignKey): Promise<void> {
  await db.query(`alter table ${table} add constraint ${name} ${ddl}`)
}

/** Moves the rows of a table to shards. `like`: a table with the same shards; absent: shards of its own. */
export async function spreadTable(db: Queryable, table: string, column: string, like: string | undefined): Promise<void> {
  await db.query(`select create_distributed_table('${table}', '${column}', colocate_with := '${like ?? 'none'}')::text`)
  // Citus leaves the copied rows where they were, hidden.
  await db.query(`select truncate_local_data_after_distributing_table('${table}')::text`)
}

export async function callFunction(db: Queryable, name: string): Promise<void> {
  await db.query(`select ${name}()`)
}

/** Lets Citus run a function on the node of its argument `shard_`. Returns false if it does so already. */
export async function spreadFunction(db: Queryable, name: string, like: string): Promise<boolean> {
  const { rows } = await db.query<{ signature: string }>(
    `select p.oid::regprocedure::text as signature from pg_proc p
      where p.proname = $1 and p.pronamespace = ${ownSchema} and not exists (
        select from pg_catalog.pg_dist_object o
         where o.classid = 'pg_proc'::regclass and o.objid = p.oid and o.distribution_argument_index is not null)`,
    [name],
  )
  for (const { signature } of rows)
    await db.query(`select create_distributed_function('${signature}', 'shard_', colocate_with := '${like}')::text`)
  return rows.length > 0
}

/**
 * Refuses the database to code that has fewer migrations than this one: it would write batches over several shards.
 * See AppliedMigration.contractOf.
 */
export async function refuseOlderCode(db: Queryable): Promise<void> {
  await db.query(
    `update schema_migration_checksum set contract_of = left(name, 4)
      where name = (select max(name collate "C") from schema_migration_checksum)`,
  )
}
