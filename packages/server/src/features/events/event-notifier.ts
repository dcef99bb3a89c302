import type { Waking } from '#db/database.ts'
import { eventChannel, wakeUpOf } from './store.ts'

const intervalMs = 50

/**
 * Wakes the workers for events from frequent writes, at most every 50 ms, so that they find many events at a time.
 * Called after the writes commit.
 */
export class EventNotifier {
  readonly #db: Waking
  readonly #tenantIds = new Set<string>()
  #timer: NodeJS.Timeout | undefined

  constructor(db: Waking) {
    this.#db = db
  }

  notify(tenantIds: string[]): void {
    for (const id of tenantIds) this.#tenantIds.add(id)
    this.#timer ??= setTimeout(() => this.#wake(), intervalMs).unref()
  }

  close(): void {
    if (this.#timer) this.#wake()
  }

  #wake(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#db.wake(eventChannel, wakeUpOf(this.#tenantIds))
    this.#tenantIds.clear()
  }
}
