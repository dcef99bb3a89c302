/** Thrown when the time for all checks has passed. A single check does not catch it, because it ends all of them. */
export class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed'
}

/** The time limit of all checks: a checked service must not be able to keep the command running. */
export class Deadline {
  readonly seconds: number
  /** Aborts when the time has passed, for asynchronous work. */
  readonly signal: AbortSignal
  readonly #endsAt: number

  constructor(seconds: number) {
    this.seconds = seconds
    this.signal = AbortSignal.timeout(seconds * 1_000)
    this.#endsAt = performance.now() + seconds * 1_000
  }

  /** Throws when the time has passed, for long loops in which no timer fires. */
  check(): void {
    if (performance.now() >= this.#endsAt) throw new DeadlinePassed()
  }
}
