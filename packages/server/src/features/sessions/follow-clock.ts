import { moveDeliveries } from '#features/webhooks/set-back-store.ts'
import { updateOverlong } from '../blob-deletions/store.ts'
import type { Context } from '../context.ts'
import { findSetBack, noteContact } from './contact-store.ts'

/**
 * Records that the database can be reached. If its clock was set back since the last call, moves the times that were
 * written before, so that nothing waits longer than intended. The contact is recorded last, so that the next call
 * repeats one that failed.
 */
export async function followClock({ db, log }: Pick<Context, 'db' | 'log'>): Promise<void> {
  const seconds = await findSetBack(db)
  if (seconds > 0) {
    log.warn({ seconds: Math.round(seconds) }, 'the clock of the database was set back; waiting work is moved')
    await moveDeliveries(db, seconds)
    await updateOverlong(db)
  }
  await noteContact(db)
}
