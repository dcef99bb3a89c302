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
  const transaction = db.transaction(STORE, 'readwrite')
  // `add` and not `put`: if two tabs start at the same time, both use the key of the first.
  transaction.objectStore(STORE).add(made, name)
  if (await isCommitted(transaction)) return made
  const first = await done<Keys | undefined>(db.transaction(STORE).objectStore(STORE).get(name))
  if (!first) throw new Error('the browser has no space left')
  return first
}

/** Without space, a transaction may fail after each of its requests has succeeded. */
function isCommitted(transaction: IDBTransaction): Promise<boolean> {
  return new Promise((resolve) => {
    transaction.addEventListener('complete', () => resolve(true))
    transaction.addEventListener('abort', () => resolve(false))
  })
}

function openDatabase(): Promise<IDBDatabase> {
  const request = indexedDB.open('atrium-space', 1)
  request.addEventListener('upgradeneeded', () => request.result.createObjectStore(STORE))
  return done(request)
}
