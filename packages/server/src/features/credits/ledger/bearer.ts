import { statement, type Db } from '#db/database.ts'
import { hashCredential } from '#crypto/random.ts'
import type { AccountRef } from './account.ts'

/** An account that whoever holds its code may spend. */
export interface BearerAccount {
  account: AccountRef
  kind: 'wallet' | 'coupon' | 'license'
  /** What can be spent now; 0 once it is over. */
  balanceCredits: number
  /** Set aside for what runs. */
  heldCredits: number
  /** Of a coupon that expires. RFC 3339. */
  expiresAt: string | null
}

interface Row {
  tenant_id: string
  id: string
  kind: BearerAccount['kind']
  balance: number
  held: number
  expires_at: string | null
}

const findStatement = statement<Row>(
  'ledger-bearer',
  `select a.tenant_id, a.id, a.kind, a.expires_at,
     case when a.expires_at <= now() then 0 else a.balance end as balance,
     coalesce(h.balance, 0) as held
   from ledger_accounts a
   left join ledger_accounts h on h.tenant_id = a.tenant_id and h.id = a.id || '.held'
   where a.code_hash = $1`,
)

/** The account that a well-formed code spends. A code is good at every tenant: an issuer grants what another tenant's app spends. */
export async function findBearer(db: Db, code: string): Promise<BearerAccount | undefined> {
  const [row] = await db.query(findStatement, [hashCredential(code)])
  return (
    row && {
      account: { tenantId: row.tenant_id, id: row.id },
      kind: row.kind,
      balanceCredits: row.balance,
      heldCredits: row.held,
      expiresAt: row.expires_at,
    }
  )
}
