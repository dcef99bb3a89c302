import type { KeyObject } from 'node:crypto'
import { readReportKeys } from '#config/report-keys-config.ts'
import { ApiError } from '#errors/api-error.ts'
import type { Egress } from './egress/egress.ts'

/** The public keys that sign reports of leaked keys. */
export interface ReportKeys {
  /** @throws ApiError `unavailable`, if the keys cannot be read now */
  find(identifier: string): Promise<KeyObject | undefined>
}

/** For an installation that reaches no other server: the keys of a file, which the start has read. */
export function fixedReportKeys(keys: ReadonlyMap<string, KeyObject>): ReportKeys {
  return { find: async (identifier) => keys.get(identifier) }
}

const FRESH_MS = 60 * 60_000
const OUTAGE_MS = 24 * 60 * 60_000
/** GitHub answers 60 requests an hour without a token. */
const REFRESH_INTERVAL_MS = 2 * 60_000
const RETRY_INTERVAL_MS = 30_000
const TIMEOUT_MS = 5_000

export interface FetchedReportKeysOptions {
  url: string
  send: Egress['send']
  onError: (error: unknown) => void
  now?: () => number
}

/**
 * The keys of an address.
 *
 * - Kept for an hour. A key that was withdrawn is gone after that.
 * - Fetched once in two minutes for identifiers that are not known, or 30 s after a failure, whatever the number of
 *   callers: an identifier may be made up. Callers who come during a fetch share it.
 * - If the address fails, keys that are known serve for another day.
 */
export class FetchedReportKeys implements ReportKeys {
  readonly #options: FetchedReportKeysOptions
  readonly #now: () => number
  #keys = new Map<string, KeyObject>()
  #fetchedAtMs = -Infinity
  #triedAtMs = -Infinity
  #failure: unknown
  #running: Promise<void> | undefined

  constructor(options: FetchedReportKeysOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
  }

  async find(identifier: string): Promise<KeyObject | undefined> {
    if (this.#ageMs() >= FRESH_MS || !this.#keys.has(identifier)) await this.#refreshIfDue()
    const key = this.#ageMs() < FRESH_MS + OUTAGE_MS ? this.#keys.get(identifier) : undefined
    // After a failure nobody knows whether the key is published.
    if (!key && this.#failure !== undefined)
      throw new ApiError('unavailable', {
        message: 'The keys that sign reports cannot be fetched now. Nothing was done.',
        retryAfterSeconds: RETRY_INTERVAL_MS / 1_000,
        cause: this.#failure,
      })
    return key
  }

  #ageMs(): number {
    return this.#now() - this.#fetchedAtMs
  }

  #refreshIfDue(): Promise<void> | undefined {
    if (this.#running) return this.#running
    const intervalMs = this.#failure === undefined ? REFRESH_INTERVAL_MS : RETRY_INTERVAL_MS
    if (this.#now() - this.#triedAtMs < intervalMs) return undefined
    this.#triedAtMs = this.#now()
    this.#running = this.#refresh().finally(() => (this.#running = undefined))
    return this.#running
  }

  /** Never rejects: callers that find no key report the failure. */
  async #refresh(): Promise<void> {
    const { url, send, onError } = this.#options
    try {
      // GitHub refuses requests without a User-Agent.
      const headers = { accept: 'application/json', 'user-agent': 'atrium' }
      const answer = await send({ method: 'GET', url, headers, timeoutMs: TIMEOUT_MS })
      if (answer.status !== 200 || answer.truncated) throw new Error(`the address of the keys answered ${answer.status}`)
      const keys = readReportKeys(answer.body)
      // An empty list is a failure of the address, and not a withdrawal of every key.
      if (keys.size === 0) throw new Error('the address of the keys published none')
      this.#keys = keys
      this.#fetchedAtMs = this.#now()
      this.#failure = undefined
    } catch (error) {
      this.#failure = error
      onError(error)
    }
  }
}
