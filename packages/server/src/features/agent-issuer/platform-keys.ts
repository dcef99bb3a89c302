import { createPrivateKey, generateKeyPair, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import { calculateJwkThumbprint, exportJWK, type JWK } from 'jose'
import type { Db } from '#db/database.ts'
import type { SealedRef } from '#crypto/vault/sealed-columns.ts'
import type { Vault } from '#crypto/vault/vault.ts'
import { insertKey, listPublishedKeys, type StoredKey } from './store.ts'

interface PlatformKeysOptions {
  db: Db
  vault: Vault
  /** What the keys sign; each purpose has its own keys. */
  purpose: string
  now?: () => number
}

interface Loaded {
  current: { kid: string; privateKey: KeyObject }
  published: JWK[]
}

/** Every process stops publishing a retired key within this time. */
const cacheMs = 60_000

/**
 * The platform's own RSA keys. They are in the database, so that all processes sign with the same key. The first use
 * makes the key.
 */
export class PlatformKeys {
  readonly #db: Db
  readonly #vault: Vault
  readonly #purpose: string
  readonly #now: () => number
  #loading: { keys: Promise<Loaded>; atMs: number } | undefined

  constructor({ db, vault, purpose, now = Date.now }: PlatformKeysOptions) {
    this.#db = db
    this.#vault = vault
    this.#purpose = purpose
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
    let keys = await listPublishedKeys(this.#db, this.#purpose)
    if (keys.every(({ retired }) => retired)) {
      await this.#make()
      keys = await listPublishedKeys(this.#db, this.#purpose)
    }
    const active = keys.find(({ retired }) => !retired)
    if (!active) throw new Error(`there is no active key for ${this.#purpose}`)
    return { current: { kid: active.id, privateKey: this.#open(active) }, published: keys.map(({ publicJwk }) => publicJwk) }
  }

  async #make(): Promise<void> {
    const { publicKey, privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 })
    const { kty, n, e } = await exportJWK(publicKey)
    const id = await calculateJwkThumbprint({ kty, n, e } as JWK)
    const privateSealed = this.#vault.seal(privateKey.export({ format: 'der', type: 'pkcs8' }), this.#sealedRef(id))
    await insertKey(this.#db, this.#purpose, {
      id,
      publicJwk: { kty, use: 'sig', alg: 'RS256', kid: id, n, e } as JWK,
      privateSealed,
    })
  }

  #open({ id, privateSealed }: StoredKey): KeyObject {
    return createPrivateKey({ key: this.#vault.open(privateSealed, this.#sealedRef(id)), format: 'der', type: 'pkcs8' })
  }

  #sealedRef(id: string): SealedRef {
    return { tenant: 'platform', table: 'platform_keys', column: 'private_sealed', row: `${this.#purpose} ${id}` }
  }
}
