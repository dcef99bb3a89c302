export interface BackoffOptions {
  firstMs: number
  maxMs: number
  /** An operation that lasted this long before it failed counts as healthy: the next wait is the first one again. */
  healthyMs: number
  /** A monotonic clock. */
  now?: () => number
  /** From 0 to 1. */
  random?: () => number
}

/**
 * Computes the wait before the next attempt: doubled after each failure up to maxMs, half of it random, so that
 * processes that failed together do not retry together. A success that lasts less than healthyMs does not shorten
 * the waits, so that an operation that fails right after its start is not retried all the time.
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

  /** Records that it works from now on. */
  succeeded(): void {
    this.#succeededAt = this.#now()
  }

  /** Records a failure. Returns the milliseconds to wait. */
  failed(): number {
    const { firstMs, maxMs, healthyMs } = this.#options
    if (this.#succeededAt !== undefined && this.#now() - this.#succeededAt >= healthyMs) this.#failures = 0
    this.#succeededAt = undefined
    const mostMs = Math.min(maxMs, firstMs * 2 ** Math.min(this.#failures, 30))
    this.#failures++
    return mostMs / 2 + (mostMs / 2) * this.#random()
  }
}
