import type { RatePolicy } from '@atrium/contract/request-limits'
import { BoundedCounts } from './bounded-counts.ts'
import { gcra } from './gcra.ts'

export interface Grant {
  /** How many requests may pass. */
  granted: number
  /** How many are left after them. */
  remaining: number
  resetMs: number
}

/**
 * Counts for several processes: grants requests in advance, up to what the limit has left, and takes unused ones
 * back.
 */
export class LeaseCounter {
  readonly #counts: BoundedCounts<number>
  readonly #now: () => number

  constructor({ maxEntries = 100_000, now = () => performance.now() }: { maxEntries?: number; now?: () => number } = {}) {
    this.#counts = new BoundedCounts(maxEntries)
    this.#now = now
  }

  grant(key: string, policy: RatePolicy, wanted: number): Grant {
    const { passed, next, remaining, resetMs } = gcra(this.#counts.get(key), policy, this.#now(), wanted)
    this.#counts.set(key, next)
    return { granted: passed, remaining, resetMs }
  }

  giveBack(key: string, policy: RatePolicy, unused: number): void {
    const arrivalMs = this.#counts.get(key)
    // The key was forgotten, so nothing is counted against it either.
    if (arrivalMs !== undefined) this.#counts.set(key, arrivalMs - (unused * 1_000) / policy.perSecond)
  }
}
