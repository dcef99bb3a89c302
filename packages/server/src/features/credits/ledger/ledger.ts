import { Batcher } from '@atrium/traffic/batcher'
import type { Database } from '../../../db/database.ts'
import { isDataError } from '../../../db/sql-errors.ts'
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
    run: (movements) => db.transaction((tx) => postMovements(tx, movements)),
  })
}
