import type { Database } from '#db/database.ts'
import { deleteEnded, deleteUnused, lockVersions } from './retention-store.ts'

/** Deletes up to `limit` sessions that ended so many days ago, and the versions of agents that none is left of; says how many sessions. */
export function forgetSessions(db: Database, keptDays: number, limit: number): Promise<number> {
  return db.transaction(async (tx) => {
    const { count, versions } = await deleteEnded(tx, keptDays, limit)
    if (versions.length > 0) {
      // A launch that uses one of them is waited for here, and seen by the statement after it.
      await lockVersions(tx, versions)
      await deleteUnused(tx, versions)
    }
    return count
  })
}
