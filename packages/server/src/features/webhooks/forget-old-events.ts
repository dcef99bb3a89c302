import type { Database } from '#db/database.ts'
import { deleteOldEvents, hasOldEvents } from '../events/store.ts'
import { deleteDeliveries } from './store.ts'

/** Deletes up to `limit` events that are too old, and their deliveries with them; says how many. */
export async function forgetOldEvents(db: Database, limit: number, keptDays = 30): Promise<number> {
  if (!(await hasOldEvents(db, keptDays))) return 0
  return db.transaction(async (tx) => {
    const gone = await deleteOldEvents(tx, keptDays, limit)
    if (gone.length > 0) await deleteDeliveries(tx, gone)
    return gone.length
  })
}
