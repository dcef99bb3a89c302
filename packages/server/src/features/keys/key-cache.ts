import { Batcher } from '@atrium/traffic/batcher'
import { Overloaded } from '@atrium/traffic/overloaded'
import { timeouts } from '@atrium/traffic/timeouts'
import type { ResolvedKey } from './key.ts'

interface Entry {
  key: ResolvedKey
  loadedAtMs: number
}

interface KeyCacheOptions {
  /** Returns one entry for each hash (base64), in order; undefined: the key does not exist. */
  load: (hashes: string[]) => Promise<(ResolvedKey | undefined)[]>
  maxEntries?: number
  now?: () => number
}

/**
 * The maximum age of an entry: a suspension or a revocation takes effect within this time, even if every notification
 * is lost.
 */
export const keyCeilingMs = 15_000
/** From this age, an entry is refreshed in the background, so that a busy key never waits for the database. */
const refreshAfterMs = 7_500

/**
 * Resolves keys from memory. Entries in use are refreshed before the ceiling. forgetTenant expires the entries of a
 * tenant at once. Unknown keys are not cached: their number has no bound.
 */
export class KeyCache {
  readonly #entries = new Map<string, Entry>()
  readonly #loads: Batcher<string, ResolvedKey | undefined>
  readonly #loading = new Map<string, { load: Promise<ResolvedKey | undefined>; sinceMs: number }>()
  readonly #maxEntries: number
  readonly #now: () => number
  #generation = 0

  constructor({ load, maxEntries = 50_000, now = () => performance.now() }: KeyCacheOptions) {
    this.#loads = new Batcher({ run: load, maxSize: 500, concurrency: 2 })
    this.#maxEntries = maxEntries
    this.#now = now
  }

  /** Returns the key if it is cached, and a promise if it must be loaded. */
  resolve(hash: string): ResolvedKey | undefined | Promise<ResolvedKey | undefined> {
    const entry = this.#entries.get(hash)
    const ageMs = entry ? this.#now() - entry.loadedAtMs : Infinity
    if (entry && ageMs < keyCeilingMs) {
      if (ageMs >= refreshAfterMs) this.#refresh(hash)
      return entry.key
    }
    return this.#loadOnce(hash)
  }

  /** Whether the cache has the key, however old the entry is: a caller who presents such a key does not guess. */
  knows(hash: string): boolean {
    return this.#entries.has(hash)
  }

  /** Drops a key that no request will present again. */
  forget(hash: string): void {
    this.#entries.delete(hash)
  }

  forgetTenant(tenantId: string): void {
    this.#forgetLoads()
    for (const entry of this.#entries.values()) if (entry.key.tenantId === tenantId) entry.loadedAtMs = -Infinity
  }

  /** Expires all entries, after notifications may have been lost. */
  forgetAll(): void {
    this.#forgetLoads()
    for (const entry of this.#entries.values()) entry.loadedAtMs = -Infinity
  }

  #refresh(hash: string): void {
    if (this.#loading.has(hash)) return
    // A failed refresh is ignored: the entry is valid until its ceiling, and the first request after that reports the
    // error.
    this.#loadOnce(hash).catch(() => undefined)
  }

  /** A load that began before a notification must not answer a request that came after it. */
  #forgetLoads(): void {
    this.#generation++
    this.#loading.clear()
  }

  /** Concurrent requests for a key share one load, so that an unresponsive database does not collect waiting loads. */
  #loadOnce(hash: string): Promise<ResolvedKey | undefined> {
    const known = this.#loading.get(hash)
    if (known) {
      const isStalled = performance.now() - known.sinceMs > timeouts.stalledMs
      return isStalled ? Promise.reject(new Overloaded('the key cannot be loaded now')) : known.load
    }
    const load = this.#load(hash).finally(() => {
      if (this.#loading.get(hash)?.load === load) this.#loading.delete(hash)
    })
    this.#loading.set(hash, { load, sinceMs: performance.now() })
    return load
  }

  async #load(hash: string): Promise<ResolvedKey | undefined> {
    const generation = this.#generation
    const startedAtMs = this.#now()
    const key = await this.#loads.add(hash)
    // A notification that came during the load may concern this key: the result answers this request, but is not
    // cached.
    if (key && generation === this.#generation) this.#keep(hash, { key, loadedAtMs: startedAtMs })
    if (!key) this.#entries.delete(hash)
    return key
  }

  #keep(hash: string, entry: Entry): void {
    this.#entries.delete(hash)
    if (this.#entries.size >= this.#maxEntries) {
      const oldest = this.#entries.keys().next().value
      if (oldest !== undefined) this.#entries.delete(oldest)
    }
    this.#entries.set(hash, entry)
  }
}
