import { Batcher } from '@atrium/traffic/batcher'
import type { Database, Tx } from '../../../db/database.ts'
import { isDataError } from '../../../db/sql-errors.ts'
import { limitWait } from '../../../http/idempotency/store.ts'
import type { Movement, MovementOutcome } from './movement.ts'
import { postMovements } from './post.ts'

/**
 * Posts movements that stand for themselves, in a transaction of their own: those that arrive while the last batch commits share the next
 * one. So movements on one account queue in memory, not at its lock, and a busy account costs one lock and one update a batch.
 */
export type Ledger = Batcher<Movement, MovementOutcome>

export function openLedger(db: Database): Ledger {
  // Two at once: one is prepared and sent while the other commits. More would only wait for each other's locks.
  return new Batcher({
    maxSize: 256,
    concurrency: 2,
    isAboutOneInput: isDataError,
    run: (movements) => db.transaction((tx) => postBatch(tx, movements)),
  })
}

/** A repeat in another process waits at the payer's account first, and then at its key. */
async function postBatch(tx: Tx, movements: Movement[]): Promise<MovementOutcome[]> {
  if (movements.some((movement) => movement.type === 'transfer' && movement.claim)) await limitWait(tx)
  return postMovements(tx, movements)
}
