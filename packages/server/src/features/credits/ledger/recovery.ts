import { statement, type Db } from '#db/database.ts'

const findStatement = statement<{ thumbprint: string; sealed_code: string }>(
  'ledger-recovery',
  'select thumbprint, sealed_code from ledger_recoveries where tenant_id = $1 and id = $2',
)

/** The sealed wallet code that was kept beside a redemption, if its caller brought a key for it. */
export async function findRecovery(
  db: Db,
  tenantId: string,
  transactionId: string,
): Promise<{ thumbprint: string; sealedCode: string } | undefined> {
  const [row] = await db.query(findStatement, [tenantId, transactionId])
  return row && { thumbprint: row.thumbprint, sealedCode: row.sealed_code }
}

const postedStatement = statement<{ posted: boolean }>(
  'ledger-posted',
  'select exists (select from ledger_transfers where tenant_id = $1 and id = $2) as posted',
)

/** Whether credits moved under this id. */
export async function isPosted(db: Db, tenantId: string, transactionId: string): Promise<boolean> {
  const [row] = await db.query(postedStatement, [tenantId, transactionId])
  return row!.posted
}
