import { type Tx, statement } from '#db/database.ts'
import type { ReversalChange } from './decide.ts'
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

const addStatement = statement<never>(
  'ledger-reversals-add',
  // On conflict: an earlier part of the same payment was returned. The account may be the wallet now instead of the
  // license, which owed nothing.
  `insert into ledger_reversals as r (seller, purpose, tenant_id, account_id, reversed, lost, unrecorded)
   values ($1, $2, $3, $4, $5::bigint, $6, $7::bigint - $5::bigint)
   on conflict on constraint ledger_reversals_pkey do update set tenant_id = excluded.tenant_id, account_id = excluded.account_id,
     reversed = r.reversed + excluded.reversed, lost = r.lost + excluded.lost, unrecorded = excluded.unrecorded - r.reversed`,
)

const reduceStatement = statement<never>(
  'ledger-reversals-reduce',
  'update ledger_reversals set reversed = reversed - $3::bigint, recovered = recovered + $4::bigint where seller = $1 and purpose = $2',
)

/** Writes what the decided movements change. The accounts are locked, and so are these rows. */
export async function writeReversals(tx: Tx, changes: ReversalChange[]): Promise<void> {
  for (const { seller, purpose, account, reversed, lost, recovered, total = reversed } of changes) {
    if (reversed > 0) await tx.query(addStatement, [seller, purpose, account.tenantId, account.id, reversed, lost, total])
    else await tx.query(reduceStatement, [seller, purpose, -reversed, recovered])
  }
}

const reversedStatement = statement<{ reversed: number }>(
  'ledger-reversed',
  'select reversed from ledger_reversals where seller = $1 and purpose = $2',
)

/** The credits of the returned parts of a payment of which it is recorded what is owed. */
export async function findReversed(tx: Tx, seller: string, purpose: string): Promise<number> {
  const [row] = await tx.query(reversedStatement, [seller, purpose])
  return row?.reversed ?? 0
}

const amountStatement = statement<{ amount: number }>(
  'ledger-amount',
  'select amount from ledger_transfers where tenant_id = $1 and id = $2',
)

/** The credits that the movement took from the account, or gave out of it. */
export async function findMoved(tx: Tx, from: AccountRef, movementId: string): Promise<number> {
  const [row] = await tx.query(amountStatement, [from.tenantId, movementId])
  return row?.amount ?? 0
}
