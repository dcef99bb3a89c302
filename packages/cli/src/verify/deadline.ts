/** Thrown when the time for all checks has passed, or when they were stopped. A single check does not catch it, because it ends all of them. */
export class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed'
}

/** The time limit of all checks: a checked service must not be able to keep the command running. */
export class Deadline {
  readonly seconds: number
  isStopped = false
  /** Aborts when the time has passed or the checks are stopped, for asynchronous work. */
  readonly signal: AbortSignal
  readonly #stopped = new AbortController()
  #endsAt: number

  constructor(seconds: number) {
    this.seconds = seconds
    this.signal = AbortSignal.any([AbortSignal.timeout(seconds * 1_000), this.#stopped.signal])
    this.#endsAt = performance.now() + seconds * 1_000
  }

  /** Ends the checks as if the time had passed. */
  stop(): void {
    this.isStopped = true
    this.#endsAt = 0
    this.#stopped.abort()
  }

  /** Throws when the time has passed, for long loops in which no timer fires. */
  check(): void {
    if (performance.now() >= this.#endsAt) throw new DeadlinePassed()
  }
}
