import { hashCredential, newCredential, newId } from '#crypto/random.ts'
import type { Database, Tx } from '#db/database.ts'
import { event, recordEvent, recordEvents } from '#features/events/record-event.ts'
import { hasExpiringKeys, markExpiringKeys } from './expiry-store.ts'
import type { Key } from './key.ts'
import { insertKey } from './store.ts'

interface KeyTerms {
  kind: Key['kind']
  name?: string | null
  expiresAt?: string | null
}

/** Creates a key. Its text is returned, and is stored only as a hash. */
export async function issueKey(
  tx: Tx,
  tenantId: string,
  { kind, name = null, expiresAt = null }: KeyTerms,
): Promise<Key & { key: string }> {
  const key = newCredential(kind === 'secret' ? 'secretKey' : 'publishableKey')
  const hint = `${key.slice(0, 4)}…${key.slice(-4)}`
  const row = await insertKey(tx, tenantId, { id: newId('key'), kind, name, hint, keyHash: hashCredential(key), expiresAt })
  await recordEvent(tx, tenantId, 'key.created', { key_id: row.id, kind, expires_at: row.expiresAt })
  return { ...row, key }
}

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
