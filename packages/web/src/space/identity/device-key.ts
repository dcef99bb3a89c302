import { deviceKeyOf, generateDevicePair } from '@atrium/room-client/device-pair'
import type { DeviceKey } from '@atrium/room-client/identity'

const STORE = 'keys'

/**
 * The key of that name, made when there is none. Signing in uses one key, `account`; a room entered without signing in
 * has a key of its own, so that nobody can tell from the keys that two rooms have a guest in common.
 */
export function deviceKey(name: string): Promise<DeviceKey> {
  const key = known.get(name) ?? loadKey(name)
  known.set(name, key)
  return key
}

const known = new Map<string, Promise<DeviceKey>>()

async function loadKey(name: string): Promise<DeviceKey> {
  // Where the browser stores nothing, the key lasts as long as the page.
  const pair = await storedPair(name).catch(generateDevicePair)
  return deviceKeyOf(pair)
}

async function storedPair(name: string): Promise<CryptoKeyPair> {
  const db = await openDatabase()
  const found = await done<CryptoKeyPair | undefined>(db.transaction(STORE).objectStore(STORE).get(name))
  if (found) return found
  const made = await generateDevicePair()
  // `add` and not `put`: of two tabs that begin at once, the first one's key is everybody's.
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
