import { type Tx, statement } from '#db/database.ts'
import type { AccountRef } from './movement.ts'

const lockAccountStatement = statement<never>(
  'ledger-lock-account',
  'select from ledger_accounts where tenant_id = $1 and id = $2 for no key update',
)

const redeemedStatement = statement<{ to_tenant_id: string; to_id: string }>(
  'ledger-redeemed-to',
  'select to_tenant_id, to_id from ledger_transfers where tenant_id = $1 and id = $2',
)

/**
 * The wallet that the license was redeemed for, or the license itself. Locks the license, so that it is not redeemed
 * meanwhile.
 */
export async function lockLicenseOrWallet(tx: Tx, license: AccountRef, redemptionId: string): Promise<AccountRef> {
  await tx.query(lockAccountStatement, [license.tenantId, license.id])
  const [redeemed] = await tx.query(redeemedStatement, [license.tenantId, redemptionId])
  return redeemed ? { tenantId: redeemed.to_tenant_id, id: redeemed.to_id } : license
}

const amountStatement = statement<{ amount: number }>(
  'ledger-amount',
  'select amount from ledger_transfers where tenant_id = $1 and id = $2',
)

/** The credits that a reversal took back from the account. The rest of it is a loss. */
export async function findTakenBack(tx: Tx, from: AccountRef, reversalId: string): Promise<number> {
  const [row] = await tx.query(amountStatement, [from.tenantId, reversalId])
  return row?.amount ?? 0
}
