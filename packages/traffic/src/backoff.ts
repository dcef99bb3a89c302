export interface BackoffOptions {
  firstMs: number
  maxMs: number
  /** What lasted this long before it failed counts as healthy: the next wait is the first one again. */
  healthyMs: number
  /** A clock that never goes back. */
  now?: () => number
  /** From 0 to 1. */
  random?: () => number
}

/**
 * How long to wait before the next try: twice as long after each failure up to maxMs, half of it at random, so that processes which failed
 * together do not come back together. A success that lasts for less than healthyMs does not shorten the waits: what breaks as soon as it is
 * there is not tried all the time.
 */
export class Backoff {
  readonly #options: BackoffOptions
  readonly #now: () => number
  readonly #random: () => number
  #failures = 0
  #succeededAt: number | undefined

  constructor(options: BackoffOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
    this.#random = options.random ?? Math.random
  }

  /** Failures since it was last healthy. */
  get failures(): number {
    return this.#failures
  }

  /** It works, from now on. */
  succeeded(): void {
    this.#succeededAt = this.#now()
  }

  /** It failed: gives the milliseconds to wait. */
  failed(): number {
    const { firstMs, maxMs, healthyMs } = this.#options
    if (this.#succeededAt !== undefined && this.#now() - this.#succeededAt >= healthyMs) this.#failures = 0
    this.#succeededAt = undefined
    const mostMs = Math.min(maxMs, firstMs * 2 ** Math.min(this.#failures, 30))
    this.#failures++
    return mostMs / 2 + (mostMs / 2) * this.#random()
  }
}
