import type { KeyObject } from 'node:crypto'
import { assertIssuer, fetchJwkSet, type FetchJson } from './discovery.ts'
import { ProviderUnavailable } from './provider-unavailable.ts'
import { importRs256Keys, type KeysByKid } from './rsa-keys.ts'

const FRESH_MS = 10 * 60_000
const OUTAGE_MS = 60 * 60_000
const REFRESH_INTERVAL_MS = 30_000
const REFRESH_TIMEOUT_MS = 5_000

export interface ProviderKeysOptions {
  readonly issuer: string
  readonly fetchJson: FetchJson
  readonly now?: () => number
  readonly refreshTimeoutMs?: number
}

/**
 * The verification keys of one OpenID provider.
 *
 * - Kept 10 minutes. A key the provider withdrew is gone after that.
 * - Fetched at most once in 30 s, whatever the outcome and however many callers, so that neither made-up kids nor an
 *   outage turn into load on the provider. Callers who come during a fetch share it.
 * - When the provider fails, keys already known serve for one hour more.
 */
export class ProviderKeys {
  readonly issuer: string
  readonly #options: Required<Omit<ProviderKeysOptions, 'issuer'>>
  #keys: KeysByKid = new Map()
  #fetchedAtMs = -Infinity
  #triedAtMs = -Infinity
  #running: Promise<void> | undefined
  #failure: unknown

  constructor({ issuer, fetchJson, now = Date.now, refreshTimeoutMs = REFRESH_TIMEOUT_MS }: ProviderKeysOptions) {
    assertIssuer(issuer)
    this.issuer = issuer
    this.#options = { fetchJson, now, refreshTimeoutMs }
  }

  /**
   * The key that a token names or, for a token that names none, the provider's only key (OpenID Connect, section
   * 10.1). Returns undefined if the provider has no such key. Throws ProviderUnavailable if there are no keys to
   * search. Throws it also if the key is unknown and the last fetch failed: the provider may have begun to sign with
   * this key since.
   */
  async find(kid: string | undefined): Promise<KeyObject | undefined> {
    if (this.#ageMs() >= FRESH_MS || this.#lookUp(kid) === undefined) await this.#refreshIfDue()
    const key = this.#ageMs() < FRESH_MS + OUTAGE_MS ? this.#lookUp(kid) : undefined
    if (!key && this.#failure !== undefined) throw new ProviderUnavailable(this.issuer, this.#failure)
    return key
  }

  #lookUp(kid: string | undefined): KeyObject | undefined {
    if (kid !== undefined) return this.#keys.get(kid)
    return this.#keys.size === 1 ? this.#keys.values().next().value : undefined
  }

  #ageMs(): number {
    return elapsedMs(this.#fetchedAtMs, this.#options.now())
  }

  #refreshIfDue(): Promise<void> | undefined {
    if (this.#running) return this.#running
    if (elapsedMs(this.#triedAtMs, this.#options.now()) < REFRESH_INTERVAL_MS) return undefined
    this.#triedAtMs = this.#options.now()
    this.#running = this.#refresh().finally(() => (this.#running = undefined))
    return this.#running
  }

  /** Never rejects. The failure is stored, and thrown to callers that do not find their key. */
  async #refresh(): Promise<void> {
    const { fetchJson, refreshTimeoutMs } = this.#options
    try {
      const keys = importRs256Keys(await withTimeout(fetchJwkSet(this.issuer, fetchJson), refreshTimeoutMs))
      // An empty set indicates a failure of the provider, not a withdrawal of every key.
      if (keys.size === 0) throw new Error(`${this.issuer} publishes no key fit for RS256`)
      this.#keys = keys
      this.#fetchedAtMs = this.#options.now()
      this.#failure = undefined
    } catch (error) {
      this.#failure = error
    }
  }
}

/** A clock that was set back counts as elapsed time; otherwise old keys would stay fresh for as long. */
function elapsedMs(sinceMs: number, nowMs: number): number {
  return Math.abs(nowMs - sinceMs)
}

/** Every later caller would share a fetch that never ends, and wait for ever. */
async function withTimeout<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`No answer within ${timeoutMs} ms`)), timeoutMs)
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}
