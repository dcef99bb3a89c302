import { Batcher } from '@atrium/traffic/batcher'
import type { Database } from '#db/database.ts'
import { isDataError } from '#db/sql-errors.ts'
import type { Movement, MovementOutcome } from './movement.ts'
import { accountKey } from './account.ts'
import { postFreeMovements } from './post.ts'
import { accountsOf } from './store.ts'

/**
 * Posts movements that stand for themselves, in a transaction of their own: those that arrive while the last batch commits share the next
 * one. So movements on one account queue in memory, not at its lock, and a busy account costs one lock and one update a batch.
 */
export type Ledger = Batcher<Movement, MovementOutcome>

export function openLedger(db: Database): Ledger {
  // Two at once: one is prepared and sent while the other commits.
  return new Batcher<Movement, MovementOutcome>({
    maxSize: 256,
    concurrency: 2,
    isAboutOneInput: isDataError,
    keysOf: (movement) => accountsOf(movement).map(accountKey),
    run: (movements) => db.transactionOnce((tx) => postFreeMovements(tx, movements)),
  })
}
