import type { Tx } from '#db/database.ts'
import type { AuditOrigin } from '#features/audit-log/audit-entry.ts'
import { recordAudit } from '#features/audit-log/record-audit.ts'
import type { NewEvent } from '#features/events/event.ts'
import { event, recordEvents } from '#features/events/record-event.ts'
import type { Key } from '#features/keys/key.ts'
import { findKeysForUpdate, notifyKeyChange, revokeKey } from '#features/keys/store.ts'
import { findRevokesLeakedKeys } from '#features/tenants/store.ts'
import { type KeyLeak, newPlaces, type Sighting } from './leak.ts'
import { findLeaks, saveLeak } from './store.ts'

/**
 * Records that keys of the tenant were found, and revokes them if the tenant's policy says so. Returns what is new: a
 * report that says what is known changes only when the key was seen last. The locks on the keys make two reports of
 * one key wait for each other.
 */
export async function recordKeyLeaks(
  tx: Tx,
  audit: AuditOrigin,
  tenantId: string,
  sightings: ReadonlyMap<string, Sighting[]>,
): Promise<KeyLeak[]> {
  const ids = [...sightings.keys()]
  const keys = await findKeysForUpdate(tx, tenantId, ids)
  const known = await findLeaks(tx, tenantId, ids)
  const revokes = await findRevokesLeakedKeys(tx, tenantId)
  const done: KeyLeak[] = []
  const events: NewEvent[] = []
  for (const key of keys) {
    const before = known.get(key.id)
    const { leak, news, isRevoked } = mergeLeak(key, before, sightings.get(key.id) ?? [], revokes)
    await saveLeak(tx, tenantId, leak)
    if (news.length === 0) continue
    if (isRevoked) await revokeKey(tx, tenantId, key.id)
    await recordAudit(tx, { ...audit, tenantId, params: { key_id: key.id } })
    const { action, firstSeenAt: first_seen_at } = leak
    for (const { url, source } of news)
      events.push(
        event(tenantId, 'key.leaked', { key_id: key.id, kind: key.kind, hint: key.hint, action, url, source, first_seen_at }),
      )
    if (isRevoked) events.push(event(tenantId, 'key.revoked', { key_id: key.id, kind: key.kind }))
    done.push(leak)
  }
  if (done.some(({ action }) => action === 'revoked')) notifyKeyChange(tx, tenantId)
  await recordEvents(tx, events)
  return done
}

/** What is known of the leak with the new sightings, those that the tenant is told, and whether the key is to be revoked. */
function mergeLeak(key: Key, before: KeyLeak | undefined, sightings: Sighting[], revokes: boolean) {
  const at = new Date().toISOString()
  const isRevoked = key.isActive && revokes
  const known = before?.places ?? []
  const added = newPlaces(known, sightings, at)
  const leak: KeyLeak = {
    keyId: key.id,
    action: isRevoked ? 'revoked' : (before?.action ?? (key.isActive ? 'notified' : 'ended')),
    places: [...known, ...added],
    firstSeenAt: before?.firstSeenAt ?? at,
    lastSeenAt: at,
  }
  // A key is revoked by a known sighting if the tenant has changed its policy since.
  const news: Sighting[] = isRevoked && added.length === 0 ? sightings.slice(0, 1) : added
  return { leak, news, isRevoked }
}
