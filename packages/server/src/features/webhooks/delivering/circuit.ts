/** From so many failures in a row on an endpoint gets no more than one try at a time, with a pause after each that fails. */
const opensAfter = 5
const firstPauseMs = 5_000
const maxPauseMs = 5 * 60_000

/** How many tries an endpoint gets at once: few at first, more with every success. */
const firstTries = 2
const maxTriesAtOnce = 16

/**
 * How an endpoint has done lately, and what it is therefore given. What is due to one that hangs costs a try of 15 seconds every five minutes,
 * whether one event waits for it or ten thousand.
 */
export class Circuit {
  #failures: number
  #width: number

  /** `failures`: in a row, as they were left by whoever sent to it before. */
  constructor(failures: number) {
    this.#failures = failures
    this.#width = failures > 0 ? 1 : firstTries
  }

  get failures(): number {
    return this.#failures
  }

  /** How many tries may be under way. */
  get width(): number {
    return this.#width
  }

  note(succeeded: boolean): void {
    this.#failures = succeeded ? 0 : this.#failures + 1
    this.#width = succeeded ? Math.min(this.#width + 1, maxTriesAtOnce) : Math.max(1, Math.floor(this.#width / 2))
  }

  /** How long nothing is to be sent; 0: it may go on. */
  pauseMs(random = Math.random()): number {
    if (this.#failures < opensAfter) return 0
    const pauseMs = firstPauseMs * 2 ** Math.min(this.#failures - opensAfter, 20)
    return Math.round(Math.min(pauseMs, maxPauseMs) * (0.9 + 0.2 * random))
  }
}
