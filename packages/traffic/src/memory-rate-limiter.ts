import { gcra, type RateCheck, type RateDecision } from './gcra.ts'
import type { RateLimiter } from './rate-limiter.ts'

/**
 * Counts in this process. Memory is bounded however many callers there are: entries live in two generations, and when the young one is
 * full the old one is dropped. What is dropped was not used for a whole generation.
 */
export class MemoryRateLimiter implements RateLimiter {
  readonly #maxEntries: number
  readonly #now: () => number
  #young = new Map<string, number>()
  #old = new Map<string, number>()

  constructor({ maxEntries = 100_000, now = Date.now }: { maxEntries?: number; now?: () => number } = {}) {
    this.#maxEntries = maxEntries
    this.#now = now
  }

  take(checks: RateCheck[]): RateDecision {
    const nowMs = this.#now()
    let tightest: RateDecision | undefined
    const nexts: number[] = []
    for (const { key, policy } of checks) {
      const step = gcra(this.#get(key), policy, nowMs)
      const decision = { allowed: step.allowed, policy, remaining: step.remaining, resetMs: step.resetMs }
      if (!step.allowed) return decision
      nexts.push(step.next)
      if (!tightest || decision.remaining < tightest.remaining) tightest = decision
    }
    for (let i = 0; i < checks.length; i++) this.#set(checks[i]!.key, nexts[i]!)
    if (!tightest) throw new Error('no rate limit to check')
    return tightest
  }

  get size(): number {
    return this.#young.size + this.#old.size
  }

  /** A look counts as use: one who is refused again and again must not be forgotten for it. */
  #get(key: string): number | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) this.#set(key, old)
    return old
  }

  #set(key: string, arrivalMs: number): void {
    if (this.#young.size >= this.#maxEntries && !this.#young.has(key)) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, arrivalMs)
  }

  async close(): Promise<void> {}
}
