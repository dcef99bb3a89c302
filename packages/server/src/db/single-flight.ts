import { openDatabase, type Database } from './database.ts'

const patienceMs = 10 * 60 * 1_000

/** Work that reads whole tables, which takes longer than any request's query may: one at a time, each on a connection of its own. */
export class SingleFlight<Result> {
  readonly #databaseUrl: string
  readonly #work: (db: Database) => Promise<Result>
  #running: Promise<Result> | undefined

  constructor(databaseUrl: string, work: (db: Database) => Promise<Result>) {
    this.#databaseUrl = databaseUrl
    this.#work = work
  }

  /** Whoever asks while one runs gets its result. */
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
      queryTimeoutMs: patienceMs,
      onConnectionError: () => undefined,
    })
    try {
      return await this.#work(db)
    } finally {
      await db.close()
    }
  }
}
