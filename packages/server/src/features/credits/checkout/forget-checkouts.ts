import { statement, type Db } from '#db/database.ts'

const forgetStatement = statement<{ id: string }>(
  'checkouts-forget',
  // The conditions are those of the index: a license key that waits to be redeemed and money that is on its way are not in it.
  `delete from checkouts
   where (tenant_id, id) in (
     select tenant_id, id from checkouts
     where license_sealed is null and (pending_at is null or paid_at is not null or ended_at is not null)
       and coalesce(paid_at, ended_at, expires_at) <= now() - make_interval(days => $1)
     order by coalesce(paid_at, ended_at, expires_at)
     limit $2
     for update skip locked
   )
   returning id`,
)

/** Deletes up to `limit` checkouts that were settled or given up so many days ago; says how many. What was sold stays in the ledger. */
export async function forgetCheckouts(db: Db, keptDays: number, limit: number): Promise<number> {
  return (await db.query(forgetStatement, [keptDays, limit])).length
}
