import type { Db } from '#db/database.ts'
import { findRestoredAt, findUnconfirmedRestore } from './window-store.ts'

const pollIntervalMs = 1_000

interface RestoreWindowOptions {
  db: Db
  /** The database was not asked; the next second asks it again. */
  onError: (error: unknown) => void
  /**
   * What waited for the confirmation began only in part, and cannot begin twice. The process has to end, as after a
   * failed start, so that its supervisor starts it again.
   */
  onFailed: (error: unknown) => void
}

/**
 * Whether this database was restored from a backup that no operator has confirmed yet. Codes that were spent, keys
 * that were revoked and entries that were removed after the snapshot are valid again, and the database cannot know
 * which. Until the confirmation, no secret is accepted and no job runs. A process asks once at its start, and then
 * once a second while the answer is yes. A restore needs an empty database, so the answer never becomes yes while a
 * process runs.
 */
export class RestoreWindow {
  readonly #db: Db
  readonly #onError: (error: unknown) => void
  readonly #onFailed: (error: unknown) => void
  readonly #waiting: (() => Promise<void>)[] = []
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> | undefined
  #isUnconfirmed = false

  constructor({ db, onError, onFailed }: RestoreWindowOptions) {
    this.#db = db
    this.#onError = onError
    this.#onFailed = onFailed
  }

  get isUnconfirmed(): boolean {
    return this.#isUnconfirmed
  }

  /** When this database was restored from a backup, confirmed or not. */
  restoredAt(): Promise<string | undefined> {
    return findRestoredAt(this.#db)
  }

  async start(): Promise<void> {
    this.#isUnconfirmed = (await findUnconfirmedRestore(this.#db)) !== undefined
    if (!this.#isUnconfirmed) return
    this.#timer = setInterval(() => {
      this.#looking ??= this.#look().finally(() => (this.#looking = undefined))
    }, pollIntervalMs)
  }

  /** Runs `begin` now, or once the restore is confirmed. */
  async whenConfirmed(begin: () => Promise<void>): Promise<void> {
    if (this.#isUnconfirmed) this.#waiting.push(begin)
    else await begin()
  }

  /** Calls that still wait will not begin. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#waiting.length = 0
    await this.#looking
  }

  async #look(): Promise<void> {
    try {
      if (await findUnconfirmedRestore(this.#db)) return
    } catch (error) {
      return this.#onError(error)
    }
    this.#isUnconfirmed = false
    clearInterval(this.#timer)
    try {
      for (const begin of this.#waiting.splice(0)) await begin()
    } catch (error) {
      this.#onFailed(error)
    }
  }
}
