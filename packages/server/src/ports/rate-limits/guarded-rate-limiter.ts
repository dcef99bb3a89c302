import type { RateCheck, RateDecision } from '@atrium/traffic/gcra'
import type { RateLimiter } from '@atrium/traffic/rate-limiter'
import type { SharedCounter } from './shared-counter.ts'

/** How long an answer is waited for before the request goes on with the other count. */
const patienceMs = 100
/** So many that wait at once are more than any counter that works keeps waiting; further ones do not join them. */
const maxWaiting = 2_000
/**
 * After so many failures it is asked no more; each answer in time makes up for a fifth of one, so that one in ten may
 * fail.
 */
const maxFailures = 5
const forgiven = 0.2

/**
 * A limiter that fails must neither stop the service nor open it wide nor slow it down: counts in `shared`, and while
 * that fails in `fallback`.
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
        // One that has given up already was counted then.
        if (!this.#waiting.has(giveUp)) return
        giveUp()
        this.#failed(error)
      }
      const timer = setTimeout(() => fail(new Error(`no answer in ${patienceMs} ms`)), patienceMs)
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
    // What still waits would wait in vain.
    for (const giveUp of this.#waiting) giveUp()
  }
}
