import type { Database, Tx } from '../../db/database.ts'
import type { Claim } from './claim.ts'
import { ClaimTaken } from './run-claimed.ts'
import { insertClaim, limitWait, updateAnswer } from './store.ts'

/**
 * Runs an effect in one transaction with the request's claim and the answer that is kept of it. The claim first: where the key is
 * another's, nothing of the effect is even tried. It waits for another process's request under this key as long as is promised, and then
 * ends with lock_not_available, of which runClaimed makes the answer.
 */
export async function claimedTransaction<Answer>(
  db: Database,
  claim: Claim<Answer> | undefined,
  effect: (tx: Tx) => Promise<Answer>,
): Promise<Answer> {
  return db.transaction(async (tx) => {
    if (!claim) return effect(tx)
    await limitWait(tx)
    if (!(await insertClaim(tx, claim))) throw new ClaimTaken()
    const answer = await effect(tx)
    await updateAnswer(tx, claim, claim.seal(answer))
    return answer
  })
}
