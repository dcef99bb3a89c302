import type { Db } from '#db/database.ts'
import { notifyWorkers } from './store.ts'

const intervalMs = 50

/**
 * Notifies the workers of events from frequent writes: after the writes commit, and at most every 50 ms. A
 * notification inside the write's own transaction would serialise all commits of the database. Workers also poll, so
 * that a lost notification only costs time.
 */
export class EventNotifier {
  readonly #db: Db
  readonly #onError: (error: unknown) => void
  #timer: NodeJS.Timeout | undefined

  constructor(db: Db, onError: (error: unknown) => void) {
    this.#db = db
    this.#onError = onError
  }

  notify(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      notifyWorkers(this.#db).catch(this.#onError)
    }, intervalMs).unref()
  }

  close(): void {
    clearTimeout(this.#timer)
  }
}
