import { moveDeliveries } from '#features/webhooks/set-back-store.ts'
import { dueAgain } from '../blob-deletions/store.ts'
import type { Context } from '../context.ts'
import { findSetBack, noteContact } from './contact-store.ts'

/**
 * Records that the database can be reached. If its clock was set back since the last call, times that the old clock wrote
 * are moved, so that nothing waits longer than intended. The contact is recorded last, so a call that fails is repeated
 * in full.
 */
export async function followClock({ db, log }: Pick<Context, 'db' | 'log'>): Promise<void> {
  const seconds = await findSetBack(db)
  if (seconds > 0) {
    log.warn({ seconds: Math.round(seconds) }, 'the clock of the database was set back; what waits for it is moved')
    await moveDeliveries(db, seconds)
    await dueAgain(db)
  }
  await noteContact(db)
}
