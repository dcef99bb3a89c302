import { statement, type Db, type Tx } from '#db/database.ts'
import { TileStore } from '#features/transparency-log/daily-tree/tile-store.ts'
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

export const booksTiles = new TileStore({
  table: 'books_tiles',
  names: 'accounts',
  firstKey: ['first_tenant_id', 'first_id'],
})

const writeRootStatement = statement<never>(
  'books-write-root',
  'insert into books_roots (day, accounts, total, root) values ($1, $2, $3, $4)',
)

export async function insertRoot(tx: Tx, { day, accounts, totalCredits, root }: BooksRoot): Promise<void> {
  await tx.query(writeRootStatement, [day, accounts, totalCredits, root])
}
