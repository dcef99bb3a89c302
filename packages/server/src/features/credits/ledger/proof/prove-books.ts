import type { Database } from '#db/database.ts'
import { auditLedger, type Finding } from '../audit.ts'
import { beginAnew, findDifferences, findProof, settle } from './store.ts'

const fullEveryHours = 24
/** Accounts that nothing moved, of which each step looks at so many. */
const stretch = 5_000

export interface ProofStep {
  /** Whether every row was read. */
  full: boolean
  findings: Finding[]
}

/**
 * Proves what came into the books since the last time. Whatever a step finds is looked at from the first row on before anyone is told: a
 * clock that was set back, or a restored backup, makes the proved sums wrong, and not the books.
 */
export async function proveBooks(db: Database, options: { stretch?: number } = {}): Promise<ProofStep> {
  const proof = await findProof(db, fullEveryHours)
  const most = options.stretch ?? stretch
  if (proof && !proof.isFullDue && (await findDifferences(db, proof, most)).length === 0) {
    await db.transaction((tx) => settle(tx, proof, most))
    return { full: false, findings: [] }
  }
  const { findings, credits } = await auditLedger(db)
  await db.transaction((tx) => beginAnew(tx, { findings: findings.length, credits }))
  return { full: true, findings }
}

/** The result of the last step, whichever process took it. */
export async function lastProof(db: Database) {
  return findProof(db, fullEveryHours)
}
