import { Overloaded } from '@atrium/traffic/overloaded'
import { statement, type Db } from '#db/database.ts'
import { newAccountId } from '#crypto/random.ts'
import type { Ledger } from './ledger.ts'
import type { Movement } from './movement.ts'

interface DueRow {
  what: 'hold' | 'coupon'
  tenant_id: string
  id: string
  /** Of a hold: what it was taken from. Of a coupon: where its rest goes. */
  to_tenant_id: string
  to_id: string
  actor: string
}

const dueStatement = statement<DueRow>(
  'ledger-due',
  // Read without a lock: whoever ends a hold locks accounts first, and what is done twice moves nothing the second time.
  `select case when h.id is null then 'coupon' else 'hold' end as what, d.tenant_id, d.id,
     coalesce(a.origin_tenant_id, d.tenant_id) as to_tenant_id, coalesce(a.origin_id, h.account_id) as to_id, coalesce(h.actor, '') as actor
   from ledger_due d
   left join ledger_holds h on h.tenant_id = d.tenant_id and h.id = d.id
   left join ledger_accounts a on a.tenant_id = d.tenant_id and a.id = d.id
   where d.due_at <= now() and (h.purpose is null or h.purpose <> all ($2::text[]))
   order by d.due_at
   limit $1`,
)

/**
 * Releases holds that nobody ended, but for those whose purpose is among `spared`, and gives back what expired coupons hold. Says how many
 * it looked at.
 */
export async function sweepLedger(db: Db, ledger: Ledger, limit: number, spared: string[] = []): Promise<number> {
  const rows = await db.query(dueStatement, [limit, spared])
  const settled = await Promise.allSettled(rows.map((row) => ledger.add(movementOf(row))))
  // One whose account somebody holds is due again next time, and keeps nobody else's.
  const fault = settled.find((one) => one.status === 'rejected' && !(one.reason instanceof Overloaded))
  if (fault) throw (fault as PromiseRejectedResult).reason
  return settled.filter((one) => one.status === 'fulfilled').length
}

function movementOf(row: DueRow): Movement {
  const to = { tenantId: row.to_tenant_id, id: row.to_id }
  if (row.what === 'hold') return { type: 'hold_end', id: row.id, from: to, outcome: 'expired', actor: row.actor }
  return { type: 'return', id: newAccountId(), from: { tenantId: row.tenant_id, id: row.id }, to }
}
