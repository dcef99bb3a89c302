import { Counter, type Registry } from 'prom-client'
import type { Db } from '#db/database.ts'
import { toChunks, type RequestChunk } from './chunk.ts'
import { insertChunks, type LoggedRequest } from './store.ts'

/** About 3 MB. At 2,000 requests a second it takes five seconds of an outage. */
const maxWaiting = 10_000
/** The chunks of one statement: at most 3 MB if they are full. */
const batchSize = 50
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
  /** Chunks stay as they are until they are written, so that one that is sent twice is the same row. */
  #chunks: RequestChunk[] = []
  #inChunks = 0
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
    if (this.#waiting.length + this.#inChunks < maxWaiting) this.#waiting.push(request)
    else this.#dropped.inc()
  }

  /** Writes what waits; never rejects. Calls made while a write runs share the next one. */
  flush(): Promise<void> {
    if (this.#waiting.length + this.#inChunks === 0) return this.#running
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
      for (;;) {
        if (this.#chunks.length === 0) this.#formChunks()
        if (this.#chunks.length === 0) return
        const batch = this.#chunks.slice(0, batchSize)
        await insertChunks(this.#options.db, batch)
        this.#chunks.splice(0, batch.length)
        this.#inChunks -= batch.reduce((sum, { requests }) => sum + requests, 0)
      }
    } catch (error) {
      this.#failures.inc()
      this.#options.onError(error)
    }
  }

  #formChunks(): void {
    this.#chunks = toChunks(this.#waiting)
    this.#inChunks = this.#waiting.length
    this.#waiting = []
  }
}
