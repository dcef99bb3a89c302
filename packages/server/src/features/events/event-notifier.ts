import type { Waking } from '#db/database.ts'
import { eventChannel } from './store.ts'

const intervalMs = 50

/**
 * Wakes the workers for events from frequent writes, at most every 50 ms, so that they find many events at a time.
 * Called after the writes commit.
 */
export class EventNotifier {
  readonly #db: Waking
  #timer: NodeJS.Timeout | undefined

  constructor(db: Waking) {
    this.#db = db
  }

  notify(): void {
    this.#timer ??= setTimeout(() => this.#wake(), intervalMs).unref()
  }

  close(): void {
    if (this.#timer) this.#wake()
  }

  #wake(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#db.wake(eventChannel)
  }
}
