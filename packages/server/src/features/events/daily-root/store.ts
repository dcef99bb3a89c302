import { statement, type Db, type Tx } from '#db/database.ts'
import { TileStore } from '#features/transparency-log/daily-tree/tile-store.ts'

/** The root of the heads of all chains at the beginning of a day. */
export interface HeadsRoot {
  /** 2026-11-23, UTC. */
  day: string
  chains: number
  root: Buffer
}

const rootStatement = statement<HeadsRoot>(
  'event-root',
  `select to_char(day, 'YYYY-MM-DD') as day, chains, root from event_roots
   where $1::text is null or to_char(day, 'YYYY-MM-DD') = $1 order by day desc limit 1`,
)

/** The root of a day, else the last one. */
export async function findRoot(db: Db, day: string | undefined): Promise<HeadsRoot | undefined> {
  return (await db.query(rootStatement, [day ?? null]))[0]
}

const dueStatement = statement<{ day: string }>(
  'event-root-due',
  `select to_char(today, 'YYYY-MM-DD') as day from (select (now() at time zone 'utc')::date as today) t
   where not exists (select from event_roots where day = today)`,
)

/** Today, if its root has not been made. */
export async function findDueDay(db: Db): Promise<string | undefined> {
  return (await db.query(dueStatement, []))[0]?.day
}

/** The end of a tenant's chain. */
export interface ChainHead {
  tenantId: string
  sequence: number
  hash: string
}

const headsStatement = statement<{ tenant_id: string; sequence: number; hash: string }>(
  'event-root-heads',
  `select tenant_id, chain_sequence as sequence, encode(chain_hash, 'hex') as hash from event_heads
   where tenant_id > $1 and chain_hash is not null order by tenant_id limit $2`,
)

/** The ends of the chains, in the order of their tenants, after one of them. */
export async function listChainHeads(tx: Tx, afterTenantId: string, limit: number): Promise<ChainHead[]> {
  const rows = await tx.query(headsStatement, [afterTenantId, limit])
  return rows.map(({ tenant_id: tenantId, ...same }) => ({ ...same, tenantId }))
}

export const headTiles = new TileStore({ table: 'event_root_tiles', names: 'heads', firstKey: ['first_tenant_id'] })

const writeStatement = statement<never>('event-root-write', 'insert into event_roots (day, chains, root) values ($1, $2, $3)')

export async function insertRoot(tx: Tx, { day, chains, root }: HeadsRoot): Promise<void> {
  await tx.query(writeStatement, [day, chains, root])
}
