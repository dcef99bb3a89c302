import { BoundedCounts } from './bounded-counts.ts'
import { gcra, type RateCheck, type RateDecision } from './gcra.ts'
import type { RateLimiter } from './rate-limiter.ts'

/** Counts in this process, in bounded memory. */
export class MemoryRateLimiter implements RateLimiter {
  readonly #counts: BoundedCounts<number>
  readonly #now: () => number

  /** The clock is one that nobody sets: performance.now(). */
  constructor({ maxEntries = 100_000, now = () => performance.now() }: { maxEntries?: number; now?: () => number } = {}) {
    this.#counts = new BoundedCounts(maxEntries)
    this.#now = now
  }

  take(checks: RateCheck[]): RateDecision {
    const nowMs = this.#now()
    let tightest: RateDecision | undefined
    const nexts: number[] = []
    for (const { key, policy } of checks) {
      const arrivalMs = this.#counts.get(key)
      const { passed, next, remaining, resetMs } = gcra(arrivalMs, policy, nowMs)
      if (passed === 0) {
        // What the clock made impossible is put right also where it refuses: or it would refuse until the clock is there again.
        if (arrivalMs !== undefined && next < arrivalMs) this.#counts.set(key, next)
        return { allowed: false, policy, remaining, resetMs }
      }
      nexts.push(next)
      if (!tightest || remaining < tightest.remaining) tightest = { allowed: true, policy, remaining, resetMs }
    }
    for (let i = 0; i < checks.length; i++) this.#counts.set(checks[i]!.key, nexts[i]!)
    if (!tightest) throw new Error('no rate limit to check')
    return tightest
  }

  get size(): number {
    return this.#counts.size
  }

  async close(): Promise<void> {}
}
