import { BoundedCounts } from './bounded-counts.ts'
import { gcra, type RateCheck, type RateDecision } from './gcra.ts'
import type { RateLimiter } from './rate-limiter.ts'

/** The theoretical arrival time of a key (see gcra). An object, because changing it is cheaper than a map's entry. */
interface Arrival {
  ms: number
}

/** Counts in this process, in bounded memory. */
export class MemoryRateLimiter implements RateLimiter {
  readonly #counts: BoundedCounts<Arrival>
  readonly #now: () => number

  /** The clock must be monotonic: performance.now(). */
  constructor({ maxEntries = 100_000, now = () => performance.now() }: { maxEntries?: number; now?: () => number } = {}) {
    this.#counts = new BoundedCounts(maxEntries)
    this.#now = now
  }

  take(checks: RateCheck[]): RateDecision {
    const nowMs = this.#now()
    let tightest: RateDecision | undefined
    const passing: { key: string; arrival: Arrival | undefined; next: number }[] = []
    for (const { key, policy } of checks) {
      const arrival = this.#counts.get(key)
      const { passed, next, remaining, resetMs } = gcra(arrival?.ms, policy, nowMs)
      if (passed === 0) {
        // An impossible value is corrected even if the request is refused: otherwise it would refuse until the clock
        // reaches it.
        if (arrival && next < arrival.ms) arrival.ms = next
        return { allowed: false, policy, remaining, resetMs }
      }
      passing.push({ key, arrival, next })
      if (!tightest || remaining < tightest.remaining) tightest = { allowed: true, policy, remaining, resetMs }
    }
    for (const { key, arrival, next } of passing) {
      if (arrival) arrival.ms = next
      else this.#counts.set(key, { ms: next })
    }
    if (!tightest) throw new Error('no rate limit to check')
    return tightest
  }

  get size(): number {
    return this.#counts.size
  }

  async close(): Promise<void> {}
}
