import { keepTrying } from '@atrium/traffic/keep-trying'
import { isPassing } from '#db/is-passing.ts'
import { updateOverlong } from '#features/blob-deletions/store.ts'
import type { Context } from '#features/context.ts'
import { moveDeliveries } from '#features/webhooks/set-back-store.ts'

type Moving = Pick<Context, 'db' | 'log'>

/** Each call moves by its seconds once the calls before it have ended: two at once could both miss a row. */
export function startMover(ctx: Moving, signal: AbortSignal): (seconds: number) => void {
  let last = Promise.resolve()
  return (seconds) => {
    last = last.then(() => (signal.aborted ? undefined : moveWaiting(ctx, seconds, signal)))
  }
}

/**
 * Moves the times that were written before the clock of the database was set back by `seconds`, so that nothing waits
 * longer than intended. Tries again while the database or a node does not answer. Never rejects. If the process ends
 * first, the rest is due when the clock reaches its times.
 */
async function moveWaiting({ db, log }: Moving, seconds: number, signal: AbortSignal): Promise<void> {
  log.warn({ seconds: Math.round(seconds) }, 'the clock of the database was set back; the times of waiting work are moved')
  const options = { signal, isPassing }
  const moves = [moveDeliveries(db, seconds, signal), keepTrying(() => updateOverlong(db), options)]
  for (const moved of await Promise.allSettled(moves))
    if (moved.status === 'rejected' && !signal.aborted)
      log.error(
        { err: moved.reason as unknown },
        'the times of waiting work were not moved; it is due when the clock reaches them',
      )
}
