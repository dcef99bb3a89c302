import { Counter, type Registry } from 'prom-client'
import type { Db } from '#db/database.ts'
import { insertRequests, type LoggedRequest } from './store.ts'

/** About 3 MB. At 2,000 requests a second it takes five seconds of an outage. */
const maxWaiting = 10_000
/** The rows of one statement. */
const batchSize = 1_000
const intervalMs = 1_000

interface RequestLogOptions {
  db: Db
  registry: Registry
  /** 0: nothing is logged. */
  days: number
  onError: (error: unknown) => void
}

/**
 * Collects answered requests in memory and writes them once a second, beside the requests. If the database does not
 * keep up, further entries are dropped and counted. A killed process loses its last second.
 */
export class RequestLog {
  readonly #options: RequestLogOptions
  readonly #timer: NodeJS.Timeout
  readonly #dropped: Counter
  readonly #failures: Counter
  #waiting: LoggedRequest[] = []
  #running = Promise.resolve()
  #next: Promise<void> | undefined

  constructor(options: RequestLogOptions) {
    this.#options = options
    const registers = [options.registry]
    this.#dropped = new Counter({
      name: 'atrium_request_log_dropped_total',
      help: 'Entries of the request log that were dropped because too many wait to be written.',
      registers,
    })
    this.#failures = new Counter({
      name: 'atrium_request_log_failures_total',
      help: 'Batches of the request log that could not be written; they are retried.',
      registers,
    })
    this.#timer = setInterval(() => void this.flush(), intervalMs).unref()
  }

  /** Whether this installation logs requests. */
  get isOn(): boolean {
    return this.#options.days > 0
  }

  note(request: LoggedRequest): void {
    if (this.#waiting.length < maxWaiting) this.#waiting.push(request)
    else this.#dropped.inc()
  }

  /** Writes what waits; never rejects. Calls made while a write runs share the next one. */
  flush(): Promise<void> {
    if (this.#waiting.length === 0) return this.#running
    this.#next ??= this.#running.then(() => {
      this.#next = undefined
      return (this.#running = this.#write())
    })
    return this.#next
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush()
  }

  async #write(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        const batch = this.#waiting.slice(0, batchSize)
        await insertRequests(this.#options.db, batch)
        // Entries that arrived meanwhile are behind the batch.
        this.#waiting.splice(0, batch.length)
      }
    } catch (error) {
      this.#failures.inc()
      this.#options.onError(error)
    }
  }
}
