import { deviceKeyOf, generateDevicePair } from '@atrium/room-client/device-pair'
import type { DeviceKey } from '@atrium/room-client/identity'
import { done } from '../indexed-db.ts'

const STORE = 'keys'

/**
 * Returns the key of that name, and creates it if there is none. Signing in uses one key, `account`. A room entered
 * without signing in has a key of its own, so that nobody can tell from the keys that two rooms have the same guest.
 */
export function deviceKey(name: string): Promise<DeviceKey> {
  const key = known.get(name) ?? loadKey(name)
  known.set(name, key)
  return key
}

const known = new Map<string, Promise<DeviceKey>>()

async function loadKey(name: string): Promise<DeviceKey> {
  // If the browser stores nothing, the key lasts as long as the page.
  const pair = await storedKeys<CryptoKeyPair>(name, generateDevicePair).catch(generateDevicePair)
  return deviceKeyOf(pair)
}

/** The keys that this browser stores under a name; they are made if there are none. Rejects if it stores nothing. */
export async function storedKeys<Keys>(name: string, make: () => Promise<Keys>): Promise<Keys> {
  const db = await openDatabase()
  const found = await done<Keys | undefined>(db.transaction(STORE).objectStore(STORE).get(name))
  if (found) return found
  const made = await make()
  // `add` and not `put`: if two tabs start at the same time, both use the key of the first.
  const added = await done(db.transaction(STORE, 'readwrite').objectStore(STORE).add(made, name)).catch(() => undefined)
  return added === undefined ? await done<Keys>(db.transaction(STORE).objectStore(STORE).get(name)) : made
}

function openDatabase(): Promise<IDBDatabase> {
  const request = indexedDB.open('atrium-space', 1)
  request.addEventListener('upgradeneeded', () => request.result.createObjectStore(STORE))
  return done(request)
}
