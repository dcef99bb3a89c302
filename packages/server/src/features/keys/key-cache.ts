import { Batcher } from '@atrium/traffic/batcher'
import { Overloaded } from '@atrium/traffic/overloaded'
import { patience } from '@atrium/traffic/patience'
import type { ResolvedKey } from './resolved-key.ts'

interface Entry {
  key: ResolvedKey
  loadedAtMs: number
}

interface KeyCacheOptions {
  /** One entry a hash, in order; undefined where there is no such key. Hashes are in base64. */
  load: (hashes: string[]) => Promise<(ResolvedKey | undefined)[]>
  maxEntries?: number
  now?: () => number
}

/** No entry is ever used for longer: suspension and revocation hold after this long even when every notification was lost. */
export const keyCeilingMs = 15_000
/** From this age an entry is read anew in the background, so that a busy key never waits for the database. */
const refreshAfterMs = 7_500

/**
 * Resolves keys from memory. Living entries are refreshed ahead of the ceiling; forgetTenant makes them too old to be used at once. Keys
 * that do not exist are not kept: there is no end of them.
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

  /** The key if memory knows it; a promise when it must be looked up. */
  resolve(hash: string): ResolvedKey | undefined | Promise<ResolvedKey | undefined> {
    const entry = this.#entries.get(hash)
    const ageMs = entry ? this.#now() - entry.loadedAtMs : Infinity
    if (entry && ageMs < keyCeilingMs) {
      if (ageMs >= refreshAfterMs) this.#refresh(hash)
      return entry.key
    }
    return this.#loadOnce(hash)
  }

  /** Whether there is or was such a key, as far as memory goes: whoever presents it is not guessing, however old the entry is. */
  knows(hash: string): boolean {
    return this.#entries.has(hash)
  }

  forgetTenant(tenantId: string): void {
    this.#forgetLoads()
    for (const entry of this.#entries.values()) if (entry.key.tenantId === tenantId) entry.loadedAtMs = -Infinity
  }

  /** After notifications may have been lost. */
  forgetAll(): void {
    this.#forgetLoads()
    for (const entry of this.#entries.values()) entry.loadedAtMs = -Infinity
  }

  #refresh(hash: string): void {
    if (this.#loading.has(hash)) return
    // A failed refresh is no harm: the entry serves until its ceiling, and the next request past it reports the fault.
    this.#loadOnce(hash).catch(() => undefined)
  }

  /** What was read before a notification is not for those who ask after it. */
  #forgetLoads(): void {
    this.#generation++
    this.#loading.clear()
  }

  /** Those who ask for a key while it is looked up share the answer: while the database is silent they wait as one. */
  #loadOnce(hash: string): Promise<ResolvedKey | undefined> {
    const known = this.#loading.get(hash)
    if (known) {
      const isStalled = performance.now() - known.sinceMs > patience.stalledMs
      return isStalled ? Promise.reject(new Overloaded('the key cannot be looked up now')) : known.load
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
    // A notification that came meanwhile may be about this key: the answer serves this request but is not kept.
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
