import { setTimeout as delay } from 'node:timers/promises'

/** How long an answer holds for everyone who asks. */
const holdsMs = 1_000
/** A check that takes longer counts as failed; it goes on, and no second one is begun beside it. */
const patienceMs = 5_000

interface Outcome {
  error: unknown
  atMs: number
}

/**
 * Whether the process can serve, for as many health checks as may come: one check runs at a time, and its outcome
 * holds for a second. So nobody has to be refused, and the database is not asked more often than once a second.
 */
export class Readiness {
  readonly #check: () => Promise<void>
  readonly #now: () => number
  #last: Outcome | undefined
  #running: Promise<Outcome> | undefined

  constructor(check: () => Promise<void>, now: () => number = Date.now) {
    this.#check = check
    this.#now = now
  }

  /** Throws what the check threw, or that it takes too long. */
  async assert(): Promise<void> {
    if (!this.#last || this.#now() - this.#last.atMs >= holdsMs) {
      this.#running ??= this.#run().finally(() => (this.#running = undefined))
      const abandon = new AbortController()
      const outcome = await Promise.race([
        this.#running,
        delay(patienceMs, undefined, { ref: false, signal: abandon.signal }).catch(() => undefined),
      ])
      abandon.abort()
      if (!outcome) throw new Error('the check takes too long')
      if (outcome.error !== undefined) throw outcome.error
      return
    }
    if (this.#last.error !== undefined) throw this.#last.error
  }

  async #run(): Promise<Outcome> {
    const error = await this.#check().then(
      () => undefined,
      (thrown: unknown) => thrown ?? new Error('not ready'),
    )
    return (this.#last = { error, atMs: this.#now() })
  }
}
