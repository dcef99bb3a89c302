import { statement, type Db } from '#db/database.ts'

const spentStatement = statement<{ day: string; credits: number }>(
  'ledger-spent',
  `select to_char(t.created_at, 'YYYY-MM-DD') as day, sum(t.amount)::bigint as credits
   from ledger_transfers t
   where t.actor = $1 and t.kind in ('capture', 'fee')
     and t.created_at >= $2::date and t.created_at < $3::date + 1
   group by 1
   order by 1`,
)

/** What was spent on behalf of a tenant, a row a day (UTC) on which something was; both days (2026-11-20) included. */
export async function sumSpentByDay(
  db: Db,
  tenantId: string,
  fromDay: string,
  toDay: string,
): Promise<{ day: string; credits: number }[]> {
  return db.query(spentStatement, [tenantId, fromDay, toDay])
}
