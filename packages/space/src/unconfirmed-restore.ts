import type { Db } from './rooms/store.ts'

const pollIntervalMs = 1_000

/**
 * Whether the database was restored from a backup that the operator has not confirmed yet. Rooms that were removed
 * since the backup exist again, and accounts that were removed from a list are on it again. Until the confirmation
 * no room is opened.
 */
export class UnconfirmedRestore {
  readonly #db: Db
  readonly #onError: (error: Error) => void
  #timer: NodeJS.Timeout | undefined
  #exists = false

  constructor(db: Db, onError: (error: Error) => void) {
    this.#db = db
    this.#onError = onError
  }

  get exists(): boolean {
    return this.#exists
  }

  /**
   * Checks once at the start, and then once a second while there is such a restore. A restore needs an empty
   * database, so none appears later.
   */
  async start(): Promise<void> {
    await this.#look()
    if (this.#exists) this.#timer = setInterval(() => void this.#look().catch(this.#onError), pollIntervalMs)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  async #look(): Promise<void> {
    const text = 'select from restores where confirmed_at is null'
    const { rows } = await this.#db.query({ name: 'restores-unconfirmed', text, values: [] })
    this.#exists = rows.length > 0
    if (!this.#exists) this.stop()
  }
}
