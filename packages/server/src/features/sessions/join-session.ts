import type { Database } from '#db/database.ts'
import { recordEvent } from '../events/record-event.ts'
import { sessionEvent, type Session } from './session.ts'
import { findSessionForUpdate, updateJoined } from './store.ts'

/**
 * Notes that the agent is in its room, and tells so the first time. undefined: the session has ended, or it is not that worker's who says
 * that it runs it.
 */
export function joinSession(
  db: Database,
  { tenantId, id }: Pick<Session, 'tenantId' | 'id'>,
  leaseOwner?: string,
): Promise<Session | undefined> {
  return db.lane(id).transaction(async (tx) => {
    const before = await findSessionForUpdate(tx, tenantId, id)
    if (!before || (leaseOwner !== undefined && before.leaseOwner !== leaseOwner)) return undefined
    const joined = await updateJoined(tx, tenantId, id)
    if (joined && before.joinedAt === null) await recordEvent(tx, tenantId, 'session.started', sessionEvent(joined))
    return joined
  })
}
