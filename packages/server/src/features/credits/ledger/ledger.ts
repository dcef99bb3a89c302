import { Batcher } from '@atrium/traffic/batcher'
import { Overloaded } from '@atrium/traffic/overloaded'
import { newAccountId } from '#crypto/random.ts'
import type { Database, Db } from '#db/database.ts'
import { isDataError } from '#db/sql-errors.ts'
import { accountKey } from './account.ts'
import type { Movement, MovementOutcome } from './movement.ts'
import { postFreeMovements } from './post.ts'
import { accountsOf, listDueEnds, type DueEnd } from './store.ts'

/**
 * Posts independent movements in a transaction of its own. Movements that arrive while a batch commits share the next
 * batch. So movements of one account queue in memory, not at the account's lock, and a busy account costs one lock and
 * one update for each batch.
 */
export type Ledger = Batcher<Movement, MovementOutcome>

export function openLedger(db: Database): Ledger {
  // Two batches at once: one is prepared and sent while the other commits.
  return new Batcher<Movement, MovementOutcome>({
    maxSize: 256,
    concurrency: 2,
    isAboutOneInput: isDataError,
    keysOf: (movement) => accountsOf(movement).map(accountKey),
    run: (movements) => db.transactionOnce((tx) => postFreeMovements(tx, movements)),
  })
}

/**
 * Releases holds that are past their end, except those whose purpose is in `spared`, and returns the rest of expired
 * coupons. Returns how many it settled.
 */
export async function sweepLedger(db: Db, ledger: Ledger, limit: number, spared: string[] = []): Promise<number> {
  const due = await listDueEnds(db, limit, spared)
  const settled = await Promise.allSettled(due.map((one) => ledger.add(movementOf(one))))
  // A movement whose account is locked is due again at the next sweep, and does not fail the others.
  for (const one of settled) if (one.status === 'rejected' && !(one.reason instanceof Overloaded)) throw one.reason
  return settled.filter((one) => one.status === 'fulfilled').length
}

function movementOf({ what, subject, to, actor }: DueEnd): Movement {
  if (what === 'hold') return { type: 'hold_end', id: subject.id, from: to, outcome: 'expired', actor }
  return { type: 'return', id: newAccountId(), from: subject, to }
}
