import type { Db } from '#db/database.ts'
import { announceEvents } from './store.ts'

const everyMs = 50

/**
 * Wakes the workers for events of busy writes, after those have committed and at most every 50 ms. A notification in the write's own
 * transaction would let only one of them commit at a time, in the whole database. Whatever is lost here the workers find by the clock.
 */
export class EventBell {
  readonly #db: Db
  readonly #onError: (error: unknown) => void
  #timer: NodeJS.Timeout | undefined

  constructor(db: Db, onError: (error: unknown) => void) {
    this.#db = db
    this.#onError = onError
  }

  ring(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      announceEvents(this.#db).catch(this.#onError)
    }, everyMs).unref()
  }

  close(): void {
    clearTimeout(this.#timer)
  }
}
