import { createPrivateKey, generateKeyPair, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import { calculateJwkThumbprint, exportJWK, type JWK } from 'jose'
import type { Db } from '#db/database.ts'
import type { Place } from '#crypto/vault/sealed-columns.ts'
import type { Vault } from '#crypto/vault/vault.ts'
import { insertKey, listPublishedKeys, type StoredKey } from './store.ts'

interface PlatformKeysOptions {
  db: Db
  vault: Vault
  /** What is signed with them; each purpose has its own. */
  purpose: string
  now?: () => number
}

interface Loaded {
  current: { kid: string; privateKey: KeyObject }
  published: JWK[]
}

/** A retired key is left off within this time, in every process. */
const freshMs = 60_000

/** RSA keys of the platform's own, in the database, so that all processes sign with the same one. It is made when first asked for. */
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

  /** What to sign with. */
  async current(): Promise<Loaded['current']> {
    return (await this.#load()).current
  }

  /** Public parts of all keys whose signatures count. */
  async published(): Promise<JWK[]> {
    return (await this.#load()).published
  }

  #load(): Promise<Loaded> {
    const nowMs = this.#now()
    if (this.#loading && nowMs - this.#loading.atMs < freshMs) return this.#loading.keys
    const loading = { keys: this.#read(), atMs: nowMs }
    this.#loading = loading
    // A failure is not kept: the next caller tries again.
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
    const living = keys.find(({ retired }) => !retired)
    if (!living) throw new Error(`there is no living key for ${this.#purpose}`)
    return { current: { kid: living.id, privateKey: this.#open(living) }, published: keys.map(({ publicJwk }) => publicJwk) }
  }

  async #make(): Promise<void> {
    const { publicKey, privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 })
    const { kty, n, e } = await exportJWK(publicKey)
    const id = await calculateJwkThumbprint({ kty, n, e } as JWK)
    const privateSealed = this.#vault.seal(privateKey.export({ format: 'der', type: 'pkcs8' }), this.#placeOf(id))
    await insertKey(this.#db, this.#purpose, {
      id,
      publicJwk: { kty, use: 'sig', alg: 'RS256', kid: id, n, e } as JWK,
      privateSealed,
    })
  }

  #open({ id, privateSealed }: StoredKey): KeyObject {
    return createPrivateKey({ key: this.#vault.open(privateSealed, this.#placeOf(id)), format: 'der', type: 'pkcs8' })
  }

  #placeOf(id: string): Place {
    return { tenant: 'platform', table: 'platform_keys', column: 'private_sealed', row: `${this.#purpose} ${id}` }
  }
}
