import { openDatabase, type Database } from './database.ts'

const timeoutMs = 10 * 60 * 1_000

/**
 * Runs work that reads whole tables and exceeds the time limit of requests: one at a time, each on a separate
 * connection.
 */
export class SingleFlight<Result> {
  readonly #databaseUrl: string
  readonly #work: (db: Database) => Promise<Result>
  #running: Promise<Result> | undefined

  constructor(databaseUrl: string, work: (db: Database) => Promise<Result>) {
    this.#databaseUrl = databaseUrl
    this.#work = work
  }

  /** Starts a run, or joins the current one. */
  run(): Promise<Result> {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  async #run(): Promise<Result> {
    const db = openDatabase({
      url: this.#databaseUrl,
      maxConnections: 1,
      queryTimeoutMs: timeoutMs,
      onConnectionError: () => undefined,
    })
    try {
      return await this.#work(db)
    } finally {
      await db.close()
    }
  }
}
