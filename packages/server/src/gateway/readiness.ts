import { setTimeout as delay } from 'node:timers/promises'

/** How long an outcome is reused. */
const holdsMs = 1_000
/** A check that takes longer counts as failed. It continues, and no second check starts meanwhile. */
const timeoutMs = 5_000

interface Outcome {
  error: unknown
  atMs: number
}

/**
 * Reports whether the process can serve. One check runs at a time, and its outcome is reused for a second. So any
 * number of health checks can be answered, and the database is queried at most once a second.
 */
export class Readiness {
  readonly #check: () => Promise<void>
  readonly #now: () => number
  #last: Outcome | undefined
  #running: Promise<Outcome> | undefined

  constructor(check: () => Promise<void>, now: () => number = () => performance.now()) {
    this.#check = check
    this.#now = now
  }

  /** Throws the error of the check, or an error if the check takes too long. */
  async assert(): Promise<void> {
    if (!this.#last || this.#now() - this.#last.atMs >= holdsMs) {
      this.#running ??= this.#run().finally(() => (this.#running = undefined))
      const abandon = new AbortController()
      const outcome = await Promise.race([
        this.#running,
        delay(timeoutMs, undefined, { ref: false, signal: abandon.signal }).catch(() => undefined),
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
