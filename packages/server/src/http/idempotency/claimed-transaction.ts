import { isLocked } from '@atrium/traffic/database-errors'
import type { Database, Tx } from '#db/database.ts'
import type { Claim } from './claim.ts'
import { ClaimInProgress, ClaimTaken } from './run-claimed.ts'
import { insertClaim, updateAnswer } from './store.ts'

/**
 * Runs an effect in one transaction with the request's claim and its stored answer. The claim is inserted first: if
 * another request has the key, the effect does not start. If that request still runs in another process, this throws
 * ClaimInProgress.
 */
export async function claimedTransaction<Answer>(
  db: Pick<Database, 'transaction'>,
  claim: Claim<Answer> | undefined,
  effect: (tx: Tx) => Promise<Answer>,
): Promise<Answer> {
  const run = async (tx: Tx) => {
    if (!claim) return effect(tx)
    const isFree = await insertClaim(tx, claim).catch((error: unknown) => {
      throw isLocked(error) ? new ClaimInProgress(error) : error
    })
    if (!isFree) throw new ClaimTaken()
    const answer = await effect(tx)
    await updateAnswer(tx, claim, claim.seal(answer))
    return answer
  }
  return db.transaction(run)
}
