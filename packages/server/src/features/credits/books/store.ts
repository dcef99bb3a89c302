import { sumTileWidth, type SumNode, type SumTile } from '@atrium/log/sum-tree'
import { statement, type Db, type Tx } from '#db/database.ts'
import type { AccountRef } from '../ledger/movement.ts'

/** The root of the books of a day. */
export interface BooksRoot {
  /** 2026-11-23, UTC. */
  day: string
  accounts: number
  totalCredits: number
  root: Buffer
}

interface RootRow {
  day: string
  accounts: number
  total: number
  root: Buffer
}

const dayText = `to_char(day, 'YYYY-MM-DD') as day`
const rootStatement = statement<RootRow>(
  'books-root',
  `select ${dayText}, accounts, total, root from books_roots where $1::text is null or to_char(day, 'YYYY-MM-DD') = $1 order by day desc limit 1`,
)

/** The root of a day, else the last one. */
export async function findRoot(db: Db, day: string | undefined): Promise<BooksRoot | undefined> {
  const [row] = await db.query(rootStatement, [day ?? null])
  return row && { day: row.day, accounts: row.accounts, totalCredits: row.total, root: row.root }
}

const dueStatement = statement<{ day: string }>(
  'books-day-due',
  `select to_char(today, 'YYYY-MM-DD') as day from (select (now() at time zone 'utc')::date as today) t
   where not exists (select from books_roots where day = today)`,
)

/** Today, if its root has not been made. */
export async function findDueDay(db: Db): Promise<string | undefined> {
  return (await db.query(dueStatement, []))[0]?.day
}

const snapshotStatement = statement<never>('books-snapshot', 'set transaction isolation level repeatable read')

/** All statements of the transaction see the books at one moment. */
export async function takeSnapshot(tx: Tx): Promise<void> {
  await tx.query(snapshotStatement, [])
}

const circulationStatement = statement<{ credits: number }>(
  'books-circulation',
  `select coalesce(sum(case kind when 'platform' then balance else -balance end), 0)::bigint as credits
   from ledger_accounts where kind in ('platform', 'loss')`,
)

/** The credits in circulation, by the account in which they originate. */
export async function sumCirculation(tx: Tx): Promise<number> {
  return (await tx.query(circulationStatement, []))[0]?.credits ?? 0
}

const accountsStatement = statement<{ tenant_id: string; id: string; balance: number }>(
  'books-accounts',
  `select tenant_id, id, balance from ledger_accounts
   where (tenant_id, id) > ($1, $2) and kind not in ('platform', 'loss') and balance > 0
   order by tenant_id, id limit $3`,
)

/** The accounts that hold credits, in the order of their keys, after one of them. */
export async function listHolders(
  tx: Tx,
  after: AccountRef,
  limit: number,
): Promise<{ account: AccountRef; balanceCredits: number }[]> {
  const rows = await tx.query(accountsStatement, [after.tenantId, after.id, limit])
  return rows.map(({ tenant_id: tenantId, id, balance }) => ({ account: { tenantId, id }, balanceCredits: balance }))
}

/** What a tile of level 0 also has. */
export interface TileLeaves {
  accounts: AccountRef[]
  salts: Buffer[]
}

const writeTileStatement = statement<never>(
  'books-write-tile',
  `insert into books_tiles (day, level, tile, nodes, salts, accounts, first_tenant_id, first_id)
   values ($1, $2, $3, $4, $5, $6, $7, $8)`,
)

export async function insertTile(tx: Tx, day: string, { level, index, nodes }: SumTile, leaves?: TileLeaves): Promise<void> {
  const first = leaves?.accounts[0]
  await tx.query(writeTileStatement, [
    day,
    level,
    index,
    Buffer.concat(nodes.map(encodeNode)),
    leaves ? Buffer.concat(leaves.salts) : null,
    leaves ? leaves.accounts.map(({ tenantId, id }) => `${tenantId}/${id}`) : null,
    first?.tenantId ?? null,
    first?.id ?? null,
  ])
}

const nodeBytes = 40
const sumBytes = 8

function encodeNode({ sum, hash }: SumNode): Buffer {
  const bytes = Buffer.alloc(sumBytes)
  bytes.writeBigUInt64BE(BigInt(sum))
  return Buffer.concat([bytes, hash])
}

function decodeNodes(bytes: Buffer): SumNode[] {
  return Array.from({ length: bytes.length / nodeBytes }, (_, i) => {
    const node = bytes.subarray(i * nodeBytes, (i + 1) * nodeBytes)
    return { sum: Number(node.readBigUInt64BE()), hash: node.subarray(sumBytes) }
  })
}

const writeRootStatement = statement<never>(
  'books-write-root',
  'insert into books_roots (day, accounts, total, root) values ($1, $2, $3, $4)',
)

export async function insertRoot(tx: Tx, { day, accounts, totalCredits, root }: BooksRoot): Promise<void> {
  await tx.query(writeRootStatement, [day, accounts, totalCredits, root])
}

const tileStatement = statement<{ nodes: Buffer }>(
  'books-tile',
  'select nodes from books_tiles where day = $1 and level = $2 and tile = $3',
)

export async function findNodes(db: Db, day: string, level: number, tile: number): Promise<SumNode[] | undefined> {
  const [row] = await db.query(tileStatement, [day, level, tile])
  return row && decodeNodes(row.nodes)
}

/** A leaf, with where it is. */
export interface FoundLeaf {
  account: string
  balanceCredits: number
  salt: Buffer
  index: number
}

const leafTileStatement = statement<{ tile: number; nodes: Buffer; salts: Buffer; accounts: string[] }>(
  'books-leaf-tile',
  `select tile, nodes, salts, accounts from books_tiles
   where day = $1 and level = 0 and (first_tenant_id, first_id) <= ($2, $3)
   order by first_tenant_id desc, first_id desc limit 1`,
)

/** undefined: the account held nothing on that day, or its tiles are deleted. */
export async function findLeaf(db: Db, day: string, { tenantId, id }: AccountRef): Promise<FoundLeaf | undefined> {
  const [row] = await db.query(leafTileStatement, [day, tenantId, id])
  const account = `${tenantId}/${id}`
  const place = row?.accounts.indexOf(account) ?? -1
  const node = row && decodeNodes(row.nodes)[place]
  if (!row || !node) return undefined
  const salt = row.salts.subarray(place * 32, (place + 1) * 32)
  return { account, balanceCredits: node.sum, salt, index: row.tile * sumTileWidth + place }
}

const forgetStatement = statement<{ day: string }>(
  'books-forget-tiles',
  `delete from books_tiles where ctid = any (array(
     select ctid from books_tiles where day < (now() at time zone 'utc')::date - $1::integer limit $2))
   returning ${dayText}`,
)

/** Deletes up to `limit` tiles that are older than some days. Returns how many there were. */
export async function deleteOldTiles(db: Db, days: number, limit: number): Promise<number> {
  return (await db.query(forgetStatement, [days, limit])).length
}
