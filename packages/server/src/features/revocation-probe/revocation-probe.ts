import { setTimeout as delay } from 'node:timers/promises'
import { Counter, Gauge, type Registry } from '#libraries/prom-client.js'
import { hashCredential, newCredential, newId } from '#crypto/random.ts'
import type { Database } from '#db/database.ts'
import { refusalOf } from '#features/keys/key.ts'
import type { KeyCache } from '#features/keys/key-cache.ts'
import { deleteCanaries, insertKey, notifyKeyChange, revokeKey } from '#features/keys/store.ts'
import { insertSystemTenant } from '#features/tenants/store.ts'
import { systemTenantId } from '#features/tenants/tenant.ts'

const intervalMs = 60_000
/** How far back the worst value looks. */
export const windowMs = 3_600_000
/** Longer than the 15 s after which no process accepts a revoked key, so that a broken promise is measured as one. */
const timeoutMs = 20_000

interface RevocationProbeOptions {
  db: Database
  keyCache: KeyCache
  registry: Registry
  onError: (error: unknown) => void
  now?: () => number
}

/**
 * Measures every minute how long this process still accepts a key after its revocation was answered. The key is
 * resolved as the gateway resolves the keys of requests, so that lost notifications and clocks that differ count.
 */
export class RevocationProbe {
  readonly #db: Database
  readonly #keyCache: KeyCache
  readonly #onError: (error: unknown) => void
  readonly #now: () => number
  readonly #probes: Counter<'outcome'>
  #measured: { atMs: number; ms: number }[] = []

  constructor({ db, keyCache, registry, onError, now = () => performance.now() }: RevocationProbeOptions) {
    this.#db = db
    this.#keyCache = keyCache
    this.#onError = onError
    this.#now = now
    const registers = [registry]
    this.#probes = new Counter({
      name: 'atrium_key_revocation_probes_total',
      help: 'Measurements of how long a revoked key still works, by outcome: measured, failed.',
      labelNames: ['outcome'],
      registers,
    })
    const worst: Gauge = new Gauge({
      name: 'atrium_key_revocation_worst_seconds',
      help: 'The longest that a revoked key still worked, of the measurements of the last hour; 0: none was measured.',
      registers,
      aggregator: 'max',
      collect: () => worst.set((this.worstMs() ?? 0) / 1_000),
    })
  }

  /** The worst value of the last hour in whole milliseconds, at least 1; undefined: nothing was measured. */
  worstMs(): number | undefined {
    const sinceMs = this.#now() - windowMs
    this.#measured = this.#measured.filter(({ atMs }) => atMs > sinceMs)
    return this.#measured.length === 0 ? undefined : Math.max(...this.#measured.map(({ ms }) => ms))
  }

  /** Starts measuring, at a random time of each minute. Returns a function that ends it. */
  start(): () => Promise<void> {
    const stopping = new AbortController()
    const { signal } = stopping
    const run = async () => {
      await pause(Math.random() * intervalMs, signal)
      while (!signal.aborted) {
        await this.probe(signal)
        await pause(intervalMs, signal)
      }
    }
    const running = run()
    return async () => {
      stopping.abort()
      await running
    }
  }

  /** Makes a key, revokes it, and measures until it is refused. Does not reject: a failure is counted and reported. */
  async probe(signal: AbortSignal): Promise<void> {
    const keyHash = hashCredential(newCredential('secretKey'))
    const canary = { id: newId('key'), hash: keyHash.toString('base64') }
    try {
      await this.#db.transaction(async (tx) => {
        await insertSystemTenant(tx)
        const terms = { kind: 'secret', name: null, hint: 'canary', expiresAt: null } as const
        await insertKey(tx, systemTenantId, { id: canary.id, keyHash, ...terms })
      })
      if (await this.#isRefused(canary.hash)) throw new Error('a fresh key is refused')
      await this.#db.transaction(async (tx) => {
        await revokeKey(tx, systemTenantId, canary.id)
        notifyKeyChange(tx, systemTenantId)
      })
      const ms = await this.#msUntilRefused(canary.hash, signal)
      if (ms === undefined) return
      this.#measured.push({ atMs: this.#now(), ms })
      this.#probes.inc({ outcome: 'measured' })
    } catch (error) {
      if (!signal.aborted) this.#fail(error)
    } finally {
      this.#keyCache.forget(canary.hash)
      // A canary that cannot be deleted now is deleted by a probe an hour later.
      await deleteCanaries(this.#db, systemTenantId, canary.id).catch(() => undefined)
    }
  }

  #fail(error: unknown): void {
    this.#probes.inc({ outcome: 'failed' })
    this.#onError(error)
  }

  async #isRefused(hash: string): Promise<boolean> {
    return refusalOf(await this.#keyCache.resolve(hash), Date.now()) !== undefined
  }

  /** undefined: the process stops. A key that is never refused has worked for as long as was waited. */
  async #msUntilRefused(hash: string, signal: AbortSignal): Promise<number | undefined> {
    const startMs = performance.now()
    let elapsedMs = 0
    while (!(await this.#isRefused(hash))) {
      elapsedMs = performance.now() - startMs
      if (elapsedMs >= timeoutMs) break
      // Exact to a tenth, so that a long wait costs little.
      await pause(2 + elapsedMs / 10, signal)
      if (signal.aborted) return undefined
      elapsedMs = performance.now() - startMs
    }
    return Math.max(1, Math.ceil(elapsedMs))
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal, ref: false }).catch(() => undefined)
}
