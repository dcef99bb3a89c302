/** The time for all checks together has passed. No single check catches it: it ends them all. */
export class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed'
}

/** The time that all checks share: whoever is checked must not be able to keep the command running. */
export class Deadline {
  readonly seconds: number
  /** Aborts when the time has passed: for what waits. */
  readonly signal: AbortSignal
  readonly #endsAt: number

  constructor(seconds: number) {
    this.seconds = seconds
    this.signal = AbortSignal.timeout(seconds * 1_000)
    this.#endsAt = performance.now() + seconds * 1_000
  }

  /** For long loops, in which no timer fires. */
  check(): void {
    if (performance.now() >= this.#endsAt) throw new DeadlinePassed()
  }
}
