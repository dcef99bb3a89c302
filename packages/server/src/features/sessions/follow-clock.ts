import { moveDeliveries } from '#features/webhooks/set-back-store.ts'
import { updateOverlong } from '../blob-deletions/store.ts'
import type { Context } from '../context.ts'

/**
 * Moves the times that were written before the clock of the database was set back by `seconds`, so that nothing waits
 * longer than intended. A failure is not retried, because a second run would move rows again. Rows that were not moved
 * are due when the clock reaches their times.
 */
export async function followClock({ db, log }: Pick<Context, 'db' | 'log'>, seconds: number): Promise<void> {
  log.warn({ seconds: Math.round(seconds) }, 'the clock of the database was set back; the times of waiting work are moved')
  for (const moved of await Promise.allSettled([moveDeliveries(db, seconds), updateOverlong(db)]))
    if (moved.status === 'rejected')
      log.error(
        { err: moved.reason as unknown },
        'the times of waiting work were not moved; it is due when the clock reaches them',
      )
}
