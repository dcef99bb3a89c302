import type { Database } from '#db/database.ts'
import { isUniqueViolation } from '#db/sql-errors.ts'
import { StartError } from '#errors/start-error.ts'
import { activateAnnounced, findAnnounced, insertAnnounced, lockAnnounced, retireActive, type NewKey } from './store.ts'

/**
 * Publishes the next key of a purpose, which does not sign yet: whoever verifies has it before the first signature. A
 * rotation that was interrupted continues with the key that it announced. Returns the key's id.
 */
export async function announceKey(db: Database, purpose: string, make: () => Promise<NewKey>): Promise<string> {
  const announced = await findAnnounced(db, purpose)
  if (announced !== undefined) return announced
  const key = await make()
  return db.transaction(async (tx) => {
    // Two rotations that began together announce one key: the second one has to see that of the first.
    await lockAnnounced(tx, purpose)
    const other = await findAnnounced(tx, purpose)
    if (other !== undefined) return other
    await insertAnnounced(tx, purpose, key)
    return key.id
  })
}

/** From now on the announced key signs, and the one before is retired. Both change together or not at all. */
export async function activateKey(db: Database, purpose: string, id: string): Promise<void> {
  try {
    await replaceActive(db, purpose, id)
  } catch (error) {
    // A process has made the first key of the purpose meanwhile: the second attempt finds that key and retires it.
    if (!isUniqueViolation(error)) throw error
    await replaceActive(db, purpose, id)
  }
}

async function replaceActive(db: Database, purpose: string, id: string): Promise<void> {
  await db.transaction(async (tx) => {
    await retireActive(tx, purpose)
    // Of two rotations at once, one activates its key, and this undoes the other.
    if (!(await activateAnnounced(tx, purpose, id))) throw new StartError(`another rotation of ${purpose} has ended meanwhile`)
  })
}
