import type { Db } from '#db/database.ts'
import type { ResolvedKey } from './key.ts'
import { recordKeyUse } from './store.ts'

const flushIntervalMs = 10_000

/** Collects in memory when keys were last used, and records it every ten seconds. A request costs one map entry. */
export class KeyUse {
  readonly #db: Db
  readonly #onError: (error: unknown) => void
  readonly #timer: NodeJS.Timeout
  #uses = new Map<string, { tenantId: string; id: string; atMs: number }>()

  constructor(db: Db, onError: (error: unknown) => void) {
    this.#db = db
    this.#onError = onError
    this.#timer = setInterval(() => void this.flush(), flushIntervalMs).unref()
  }

  note(key: ResolvedKey): void {
    const use = this.#uses.get(key.id)
    if (use) use.atMs = Date.now()
    else this.#uses.set(key.id, { tenantId: key.tenantId, id: key.id, atMs: Date.now() })
  }

  async flush(): Promise<void> {
    if (this.#uses.size === 0) return
    const uses = [...this.#uses.values()]
    this.#uses = new Map()
    try {
      const locked = await recordKeyUse(
        this.#db,
        uses.map(({ tenantId, id, atMs }) => ({ tenantId, id, at: new Date(atMs).toISOString() })),
      )
      // Retried at the next flush, unless the key was used again meanwhile.
      for (const use of uses) if (locked.has(use.id) && !this.#uses.has(use.id)) this.#uses.set(use.id, use)
    } catch (error) {
      this.#onError(error)
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush()
  }
}
