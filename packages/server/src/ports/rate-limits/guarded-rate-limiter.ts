import type { RateCheck, RateDecision } from '@atrium/traffic/gcra'
import type { RateLimiter } from '@atrium/traffic/rate-limiter'
import type { SharedCounter } from './shared-counter.ts'

/** How long a request waits for an answer before the fallback counts it. */
const timeoutMs = 100
/** No healthy counter has more requests waiting. Beyond this number, requests use the fallback at once. */
const maxWaiting = 2_000
/**
 * After so many failures the counter is no longer asked. Each answer in time compensates a fifth of a failure, so
 * that one in ten may fail.
 */
const maxFailures = 5
const forgiven = 0.2

/**
 * Counts in `shared`, and in `fallback` while that fails. A failing counter thus neither stops nor slows down the
 * service, nor disables its limits.
 */
export class GuardedRateLimiter implements RateLimiter {
  readonly #shared: SharedCounter
  readonly #fallback: RateLimiter
  readonly #waiting = new Set<() => void>()
  #failures = 0

  constructor(shared: SharedCounter, fallback: RateLimiter) {
    this.#shared = shared
    this.#fallback = fallback
  }

  take(checks: RateCheck[]): RateDecision | Promise<RateDecision> {
    if (!this.#shared.usable || this.#waiting.size >= maxWaiting) return this.#fallback.take(checks)
    const asked = this.#shared.take(checks)
    return asked instanceof Promise ? this.#await(asked, checks) : asked
  }

  async close(): Promise<void> {
    this.#shared.close()
    await this.#fallback.close()
  }

  #await(asked: Promise<RateDecision>, checks: RateCheck[]): Promise<RateDecision> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer)
        return this.#waiting.delete(giveUp)
      }
      const giveUp = () => {
        if (!leave()) return
        try {
          resolve(this.#fallback.take(checks))
        } catch (error) {
          reject(error)
        }
      }
      const fail = (error: Error) => {
        // The fallback has counted it already.
        if (!this.#waiting.has(giveUp)) return
        giveUp()
        this.#failed(error)
      }
      const timer = setTimeout(() => fail(new Error(`no answer in ${timeoutMs} ms`)), timeoutMs)
      this.#waiting.add(giveUp)
      asked.then((decision) => {
        if (!leave()) return
        this.#failures = Math.max(0, this.#failures - forgiven)
        resolve(decision)
      }, fail)
    })
  }

  #failed(error: Error): void {
    if (!this.#shared.usable || ++this.#failures < maxFailures) return
    this.#failures = 0
    this.#shared.trip(error)
    // The requests that still wait would not get an answer.
    for (const giveUp of this.#waiting) giveUp()
  }
}
