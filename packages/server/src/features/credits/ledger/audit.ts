import type { Database } from '#db/database.ts'
import type { HandlerOf } from '#features/handler.ts'
import { type Finding, auditLedger } from './audit-store.ts'
import { addProvedSums, findDifferences, findProof, resetProvedSums } from './proof-store.ts'

const fullEveryHours = 24
/** How many accounts without a movement each step checks too. */
const stretch = 5_000

export interface ProofStep {
  /** Whether the step read every row. */
  full: boolean
  findings: Finding[]
}

/**
 * Proves what was added to the books since the last step. A full audit verifies the findings of a step before it
 * reports any: a clock that was set back, or a restored backup, makes the proved sums wrong, not the books.
 */
export async function proveBooks(db: Database, options: { stretch?: number } = {}): Promise<ProofStep> {
  const proof = await findProof(db, fullEveryHours)
  const maxAccounts = options.stretch ?? stretch
  if (proof && !proof.isFullDue && (await findDifferences(db, proof, maxAccounts)).length === 0) {
    await db.transaction((tx) => addProvedSums(tx, proof, maxAccounts))
    return { full: false, findings: [] }
  }
  const { findings, credits } = await auditLedger(db)
  await db.transaction((tx) => resetProvedSums(tx, { findings: findings.length, credits }))
  return { full: true, findings }
}

/** The result of the last step, whichever process ran it. */
export async function lastProof(db: Database) {
  return findProof(db, fullEveryHours)
}

export const auditBooks: HandlerOf<'auditBooks'> = async ({ ctx }) => ({ status: 200, data: await ctx.auditor.run() })
