import { deviceKeyOf, generateDevicePair } from '@atrium/room-client/device-pair'
import type { DeviceKey } from '@atrium/room-client/identity'

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
  const pair = await storedPair(name).catch(generateDevicePair)
  return deviceKeyOf(pair)
}

async function storedPair(name: string): Promise<CryptoKeyPair> {
  const db = await openDatabase()
  const found = await done<CryptoKeyPair | undefined>(db.transaction(STORE).objectStore(STORE).get(name))
  if (found) return found
  const made = await generateDevicePair()
  // `add` and not `put`: if two tabs start at the same time, both use the key of the first.
  const added = await done(db.transaction(STORE, 'readwrite').objectStore(STORE).add(made, name)).catch(() => undefined)
  return added === undefined ? await done<CryptoKeyPair>(db.transaction(STORE).objectStore(STORE).get(name)) : made
}

function openDatabase(): Promise<IDBDatabase> {
  const request = indexedDB.open('atrium-space', 1)
  request.addEventListener('upgradeneeded', () => request.result.createObjectStore(STORE))
  return done(request)
}

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result))
    request.addEventListener('error', () => reject(request.error ?? new Error('IndexedDB')))
  })
}
