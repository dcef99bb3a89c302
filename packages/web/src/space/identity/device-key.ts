import { encodeBase64url } from '@atrium/sealing/base64url'

export interface PublicJwk {
  readonly kty: 'EC'
  readonly crv: 'P-256'
  readonly x: string
  readonly y: string
}

/** This device's signing key: the private half can be used by this page and read by nobody. */
export interface DeviceKey {
  readonly privateKey: CryptoKey
  readonly spk: PublicJwk
  /** RFC 7638, base64url. */
  readonly thumbprint: string
}

const STORE = 'keys'

/**
 * The key of that name, made when there is none. Signing in uses one key, `account`; a room entered without signing in has a key of its
 * own, so that nobody can tell from the keys that two rooms have a guest in common.
 */
export function deviceKey(name: string): Promise<DeviceKey> {
  const key = known.get(name) ?? loadKey(name)
  known.set(name, key)
  return key
}

const known = new Map<string, Promise<DeviceKey>>()

async function loadKey(name: string): Promise<DeviceKey> {
  // Where the browser stores nothing, the key lasts as long as the page.
  const pair = await storedPair(name).catch(generatePair)
  const { x, y } = await crypto.subtle.exportKey('jwk', pair.publicKey)
  const spk: PublicJwk = { kty: 'EC', crv: 'P-256', x: x!, y: y! }
  return { privateKey: pair.privateKey, spk, thumbprint: await thumbprint(spk) }
}

/** RFC 7638 §3.2: the required members only, in this order, without white space. */
export async function thumbprint({ crv, kty, x, y }: PublicJwk): Promise<string> {
  const json = new TextEncoder().encode(JSON.stringify({ crv, kty, x, y }))
  return encodeBase64url(new Uint8Array(await crypto.subtle.digest('SHA-256', json)))
}

function generatePair(): Promise<CryptoKeyPair> {
  return crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign', 'verify'])
}

async function storedPair(name: string): Promise<CryptoKeyPair> {
  const db = await openDatabase()
  const found = await done<CryptoKeyPair | undefined>(db.transaction(STORE).objectStore(STORE).get(name))
  if (found) return found
  const made = await generatePair()
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
