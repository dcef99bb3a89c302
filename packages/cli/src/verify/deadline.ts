/**
 * Thrown when the time for all checks has passed, or when they were stopped. A single check does not catch it, because
 * it ends all of them.
 */
export class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed'
}

/** The time limit of all checks: a checked service must not be able to keep the command running. */
export class Deadline {
  readonly seconds: number
  isStopped = false
  readonly #over = new AbortController()
  #endsAt: number

  constructor(seconds: number) {
    this.seconds = seconds
    this.#endsAt = performance.now() + seconds * 1_000
    // Not AbortSignal.any with AbortSignal.timeout: Node 20 can collect the second, and then the first never aborts.
    setTimeout(() => this.#over.abort(), seconds * 1_000).unref()
  }

  /** Aborts when the time has passed or the checks are stopped, for asynchronous work. */
  get signal(): AbortSignal {
    return this.#over.signal
  }

  /** Ends the checks as if the time had passed. */
  stop(): void {
    this.isStopped = true
    this.#endsAt = 0
    this.#over.abort()
  }

  /** Throws when the time has passed, for long loops in which no timer fires. */
  check(): void {
    if (performance.now() >= this.#endsAt) throw new DeadlinePassed()
  }
}
