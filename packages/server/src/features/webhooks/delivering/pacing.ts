const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/** The wait after each failed attempt: ten attempts, over 75 hours and a half. */
const waitsMs = [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour]

export const maxAttempts = waitsMs.length + 1

/**
 * The wait after that many failed attempts, plus or minus a tenth, so that deliveries that failed together are not
 * retried together. undefined: no further attempt. `random` is from 0 to 1.
 */
export function retryAfterMs(attempts: number, random = Math.random()): number | undefined {
  const waitMs = waitsMs[attempts - 1]
  return waitMs === undefined ? undefined : Math.round(waitMs * (0.9 + 0.2 * random))
}

/**
 * After this many failures in a row an endpoint receives one request at a time, with a pause after each that fails.
 */
const opensAfter = 5
const firstPauseMs = 5_000
const maxPauseMs = 5 * 60_000

/** How many concurrent requests an endpoint receives: few at first, one more with each success. */
const firstWidth = 2
const maxWidth = 16

/**
 * The circuit breaker of one endpoint. An endpoint that hangs costs one request of 15 seconds every five minutes,
 * whether one event or ten thousand are due to it.
 */
export class Circuit {
  #failures: number
  #width: number

  /** `failures`: in a row, as the worker that last sent to the endpoint stored them. */
  constructor(failures: number) {
    this.#failures = failures
    this.#width = failures > 0 ? 1 : firstWidth
  }

  get failures(): number {
    return this.#failures
  }

  /** How many requests may be in progress. */
  get width(): number {
    return this.#width
  }

  note(succeeded: boolean): void {
    this.#failures = succeeded ? 0 : this.#failures + 1
    this.#width = succeeded ? Math.min(this.#width + 1, maxWidth) : Math.max(1, Math.floor(this.#width / 2))
  }

  /** The pause before the next request; 0: none. */
  pauseMs(random = Math.random()): number {
    if (this.#failures < opensAfter) return 0
    const pauseMs = firstPauseMs * 2 ** Math.min(this.#failures - opensAfter, 20)
    return Math.round(Math.min(pauseMs, maxPauseMs) * (0.9 + 0.2 * random))
  }
}
