import { createPrivateKey, generateKeyPair, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import { calculateJwkThumbprint, exportJWK, type JWK } from '#libraries/jose.js'
import type { Db } from '#db/database.ts'
import type { SealedRef } from '#crypto/vault/sealed-columns.ts'
import type { Vault } from '#crypto/vault/vault.ts'
import { insertKey, isActive, listPublishedKeys, type NewKey, type StoredKey } from './store.ts'

/** What a key may sign, with its algorithm. A key of one purpose is never accepted for another. */
const purposes = {
  agent_tokens: { alg: 'RS256', isKept: false },
  quotes: { alg: 'ES256', isKept: false },
  // A receipt is verified for as long as anyone keeps it.
  receipts: { alg: 'ES256', isKept: true },
} as const

export type KeyPurpose = keyof typeof purposes

/** Whether signatures of a retired key stay valid for ever, and not only for a day. */
export const isKeptPurpose = (purpose: KeyPurpose): boolean => purposes[purpose].isKept

interface PlatformKeysOptions {
  db: Db
  vault: Vault
  /** What the keys sign; each purpose has its own keys. */
  purpose: KeyPurpose
  now?: () => number
}

interface Loaded {
  current: { kid: string; privateKey: KeyObject }
  published: JWK[]
}

/** Every process stops publishing a retired key within this time. */
export const cacheMs = 60_000
/** An unknown kid, which anyone may send, reads the keys again at most this often. */
const rereadMs = 1_000

/**
 * The platform's own keys of one purpose. They are in the database, so that all processes sign with the same key. The first use
 * makes the key.
 */
export class PlatformKeys {
  readonly #db: Db
  readonly #vault: Vault
  readonly purpose: KeyPurpose
  readonly #now: () => number
  #loading: { keys: Promise<Loaded>; atMs: number } | undefined

  constructor({ db, vault, purpose, now = () => performance.now() }: PlatformKeysOptions) {
    this.#db = db
    this.#vault = vault
    this.purpose = purpose
    this.#now = now
  }

  /** The key to sign with. */
  async current(): Promise<Loaded['current']> {
    return (await this.#load()).current
  }

  /** The public parts of all keys whose signatures are valid. */
  async published(): Promise<JWK[]> {
    return (await this.#load()).published
  }

  /** The public part of a key whose signatures are valid. A key that another process has just made is read. */
  async find(kid: string | undefined): Promise<JWK | undefined> {
    const known = (await this.published()).find((jwk) => jwk.kid === kid)
    if (known || !this.#loading || this.#now() - this.#loading.atMs < rereadMs) return known
    this.#loading = undefined
    return (await this.published()).find((jwk) => jwk.kid === kid)
  }

  #load(): Promise<Loaded> {
    const nowMs = this.#now()
    if (this.#loading && nowMs - this.#loading.atMs < cacheMs) return this.#loading.keys
    const loading = { keys: this.#read(), atMs: nowMs }
    this.#loading = loading
    // A failure is not cached: the next caller tries again.
    loading.keys.catch(() => {
      if (this.#loading === loading) this.#loading = undefined
    })
    return loading.keys
  }

  async #read(): Promise<Loaded> {
    const { isKept } = purposes[this.purpose]
    let keys = await listPublishedKeys(this.#db, this.purpose, isKept)
    if (!keys.some(isActive)) {
      await this.#make()
      keys = await listPublishedKeys(this.#db, this.purpose, isKept)
    }
    const active = keys.find(isActive)
    if (!active) throw new Error(`there is no active key for ${this.purpose}`)
    return { current: { kid: active.id, privateKey: this.#open(active) }, published: keys.map(({ publicJwk }) => publicJwk) }
  }

  async #make(): Promise<void> {
    await insertKey(this.#db, this.purpose, await makePlatformKey(this.#vault, this.purpose))
  }

  #open({ id, privateSealed }: StoredKey): KeyObject {
    return createPrivateKey({ key: this.#vault.open(privateSealed, sealedRef(this.purpose, id)), format: 'der', type: 'pkcs8' })
  }
}

const sealedRef = (purpose: KeyPurpose, id: string): SealedRef => ({
  tenant: 'platform',
  table: 'platform_keys',
  column: 'private_sealed',
  row: `${purpose} ${id}`,
})

/** A new key with its private part sealed, which is not stored yet. */
export async function makePlatformKey(vault: Vault, purpose: KeyPurpose): Promise<NewKey> {
  const { alg } = purposes[purpose]
  const { publicKey, privateKey } = await generate[alg]()
  const jwk = await exportJWK(publicKey)
  const id = await calculateJwkThumbprint(jwk)
  const privateSealed = vault.seal(privateKey.export({ format: 'der', type: 'pkcs8' }), sealedRef(purpose, id))
  return { id, publicJwk: publishedJwk(jwk, alg, id), privateSealed }
}

const makePair = promisify(generateKeyPair)
const generate = {
  RS256: () => makePair('rsa', { modulusLength: 2048 }),
  ES256: () => makePair('ec', { namedCurve: 'P-256' }),
}

/** With `use` and `alg` (RFC 7517), so that no verifier accepts the key for another algorithm. */
function publishedJwk({ kty, ...numbers }: JWK, alg: string, kid: string): JWK {
  return { ...(kty && { kty }), use: 'sig', alg, kid, ...numbers }
}
