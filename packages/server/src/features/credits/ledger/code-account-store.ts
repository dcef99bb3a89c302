import { isCredential } from '@atrium/contract/tokens'
import { hashCredential } from '#crypto/random.ts'
import { statement, type Db } from '#db/database.ts'
import type { AccountRef } from './account.ts'

/** An account that the holder of its code may spend. */
export interface CodeAccount {
  account: AccountRef
  kind: 'wallet' | 'coupon' | 'license'
  /** What can be spent now; 0 once the coupon has expired. */
  balanceCredits: number
  /** What open holds set aside. */
  heldCredits: number
  /** Of a coupon that expires. RFC 3339. */
  expiresAt: string | null
}

interface Row {
  tenant_id: string
  id: string
  kind: CodeAccount['kind']
  balance: number
  held: number
  expires_at: string | null
}

const columns = `a.tenant_id, a.id, a.kind, a.expires_at, case when a.expires_at <= now() then 0 else a.balance end as balance,
  coalesce(h.balance, 0) as held`

function toCodeAccount(row: Row): CodeAccount {
  return {
    account: { tenantId: row.tenant_id, id: row.id },
    kind: row.kind,
    balanceCredits: row.balance,
    heldCredits: row.held,
    expiresAt: row.expires_at,
  }
}

const findStatement = statement<Row>(
  'ledger-code-account',
  `select ${columns}
   from ledger_accounts a
   left join ledger_accounts h on h.tenant_id = a.tenant_id and h.id = a.id || '.held'
   where a.code_hash = $1`,
)

/**
 * The account of a well-formed code. Every tenant accepts a code: an issuer grants what another tenant's app spends.
 */
export async function findCodeAccount(db: Db, code: string): Promise<CodeAccount | undefined> {
  const [row] = await db.query(findStatement, [hashCredential(code)])
  return row && toCodeAccount(row)
}

/** The wallet or coupon of a code; undefined: none. A malformed code costs no query. */
export async function findPayer(db: Db, code: string): Promise<CodeAccount | undefined> {
  if (!isCredential('walletCode', code) && !isCredential('coupon', code)) return undefined
  return findCodeAccount(db, code)
}
