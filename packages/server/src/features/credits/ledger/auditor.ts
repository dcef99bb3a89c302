import { openDatabase } from '../../../db/database.ts'
import { auditLedger, type AuditReport } from './audit.ts'

const patienceMs = 10 * 60 * 1_000

/** Runs audits, one at a time, each on a connection of its own: reading all the books may take longer than any request's query may. */
export class Auditor {
  readonly #databaseUrl: string
  #running: Promise<AuditReport> | undefined

  constructor(databaseUrl: string) {
    this.#databaseUrl = databaseUrl
  }

  /** Whoever asks while one runs gets its report. */
  audit(): Promise<AuditReport> {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  async #run(): Promise<AuditReport> {
    const db = openDatabase({
      url: this.#databaseUrl,
      maxConnections: 1,
      queryTimeoutMs: patienceMs,
      onConnectionError: () => undefined,
    })
    try {
      return await auditLedger(db)
    } finally {
      await db.close()
    }
  }
}
