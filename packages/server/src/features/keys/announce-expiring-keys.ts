import type { Database } from '#db/database.ts'
import { event, recordEvents } from '../events/record-event.ts'
import { hasExpiringKeys, markExpiringKeys } from './store.ts'

/** Records an event for up to `limit` keys that expire within a week, and another within a day. Returns how many. */
export async function announceExpiringKeys(db: Database, limit: number): Promise<number> {
  if (!(await hasExpiringKeys(db))) return 0
  return db.transaction(async (tx) => {
    const keys = await markExpiringKeys(tx, limit)
    await recordEvents(
      tx,
      keys.map(({ tenantId, id, kind, expiresAt }) =>
        event(tenantId, 'key.expiring', { key_id: id, kind, expires_at: expiresAt }),
      ),
    )
    return keys.length
  })
}
