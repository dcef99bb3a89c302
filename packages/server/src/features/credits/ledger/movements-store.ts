import { statement, type Db } from '#db/database.ts'
import { maxScannedRows, scannedPage, type ScannedRow } from '#http/scanned-page.ts'
import type { TimeRange } from '#http/time-page.ts'
import type { AccountKind, TransferKind } from './movement.ts'

/** A movement of the books, with the kinds of its accounts and without their ids. */
export interface ListedMovement {
  id: string
  kind: TransferKind
  fromKind: AccountKind
  toKind: AccountKind
  amountCredits: number
  memo: string | null
  createdAt: string
}

interface Row extends ScannedRow {
  id: string
  kind: TransferKind
  from_kind: AccountKind
  to_kind: AccountKind
  amount: number
  memo: string | null
  created_at: string
}

const columns = 'tenant_id, id, kind, from_id, to_tenant_id, to_id, amount, actor, memo, created_at'
const within = `(created_at, id) < ($2::timestamptz, $3) and created_at >= $4::timestamptz order by created_at desc, id desc limit $6`

const listStatement = statement<Row>(
  'ledger-movements-of-tenant',
  // Each branch follows an index of its own. A movement within the tenant is in the first branch only. The memo of
  // another tenant, which granted a coupon out of a wallet of this one, is not shown.
  `select t.id, t.kind, f.kind as from_kind, o.kind as to_kind, t.amount,
     case when t.actor = $1 then t.memo end as memo, t.created_at, t.matches, t.is_end
   from (
     select * from (
       select m.*, row_number() over (order by created_at desc, id desc) = $6 as is_end, $5::text is null or kind = $5 as matches
       from (
         (select ${columns} from ledger_transfers where tenant_id = $1 and ${within})
         union all
         (select ${columns} from ledger_transfers
          where to_tenant_id = $1 and tenant_id <> to_tenant_id and to_id <> 'revenue' and ${within})
         order by created_at desc, id desc limit $6
       ) m
     ) m
     where matches or is_end
     order by created_at desc, id desc limit $7
   ) t
   join ledger_accounts f on f.tenant_id = t.tenant_id and f.id = t.from_id
   join ledger_accounts o on o.tenant_id = t.to_tenant_id and o.id = t.to_id
   order by t.created_at desc, t.id desc`,
)

interface ListQuery {
  kind?: TransferKind | undefined
  range: TimeRange
  limit: number
}

/**
 * The movements from and to what the tenant issued, newest first. `last` is the position from which the next page
 * continues; undefined at the end of the list.
 */
export async function listMovements(
  db: Db,
  tenantId: string,
  { kind, range, limit }: ListQuery,
): Promise<{ movements: ListedMovement[]; last: ListedMovement | undefined }> {
  const { after, from } = range
  const rows = await db.query(listStatement, [tenantId, after.createdAt, after.id, from, kind ?? null, maxScannedRows, limit + 1])
  const { page, last } = scannedPage(rows, limit)
  return { movements: page.map(toListed), last: last && toListed(last) }
}

function toListed({ id, kind, from_kind: fromKind, to_kind: toKind, amount: amountCredits, memo, created_at: createdAt }: Row) {
  return { id, kind, fromKind, toKind, amountCredits, memo, createdAt }
}

const spentStatement = statement<{ day: string; credits: number }>(
  'ledger-spent',
  `select to_char(t.created_at, 'YYYY-MM-DD') as day, sum(t.amount)::bigint as credits
   from ledger_transfers t
   where t.actor = $1 and t.kind in ('capture', 'fee')
     and t.created_at >= $2::date and t.created_at < $3::date + 1
   group by 1
   order by 1`,
)

/**
 * The credits spent on behalf of a tenant, one row for each day (UTC) with any; from and to (2026-11-20) are included.
 */
export async function sumSpentByDay(
  db: Db,
  tenantId: string,
  fromDay: string,
  toDay: string,
): Promise<{ day: string; credits: number }[]> {
  return db.query(spentStatement, [tenantId, fromDay, toDay])
}
