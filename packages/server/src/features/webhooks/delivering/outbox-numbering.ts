import type { Context } from '#features/context.ts'
import { ByShard } from '#features/distribution/by-shard.ts'
import { numberFreeEvents } from '#features/events/numbering-store.ts'
import { listWaitingTenants } from '#features/events/store.ts'

const tenantBatch = 50
const eventBatch = 500

/** Numbers the events in the outbox, a part at a time, of other tenants each time. */
export class OutboxNumbering {
  readonly #ctx: Pick<Context, 'db' | 'log' | 'tenantShards'>
  readonly #byShard: ByShard
  readonly #onNumbered: () => void
  /** The shards whose events are being numbered. */
  readonly #shards = new Map<number, Promise<void>>()
  #afterTenantId = ''
  /** A shard that is left out keeps the error of its last attempt. */
  readonly #logged = new WeakSet<Error>()

  /** `onNumbered` is called when events of a shard have been numbered, and there may be more. */
  constructor(ctx: Pick<Context, 'db' | 'log' | 'tenantShards'>, onNumbered: () => void) {
    this.#ctx = ctx
    this.#byShard = new ByShard(ctx.tenantShards)
    this.#onNumbered = onNumbered
  }

  /**
   * Numbers the next part; returns whether there may be more. Where events are spread, it only begins, so that a node
   * which hangs does not delay the deliveries of others.
   */
  async next(): Promise<boolean> {
    const { db, tenantShards } = this.#ctx
    const after = this.#afterTenantId
    const tenantIds = await listWaitingTenants(db, after, tenantBatch)
    const isFull = tenantIds.length === tenantBatch
    this.#afterTenantId = isFull ? (tenantIds.at(-1) ?? '') : ''
    if (tenantIds.length === 0) return after !== ''
    if (!tenantShards.isSpread) {
      const most = await this.#number(tenantIds)
      return isFull || after !== '' || most >= eventBatch
    }
    for (const [shard, ids] of tenantShards.group(tenantIds)) if (!this.#shards.has(shard)) this.#begin(shard, ids)
    return isFull
  }

  /** Resolves when nothing is being numbered. */
  async ended(): Promise<void> {
    await Promise.all(this.#shards.values())
  }

  #begin(shard: number, tenantIds: string[]): void {
    const numbered = this.#number(tenantIds)
      .catch(() => 0)
      .then((count) => {
        this.#shards.delete(shard)
        if (count > 0) this.#onNumbered()
      })
    this.#shards.set(shard, numbered)
  }

  /** Returns the most that were numbered in one call. */
  async #number(tenantIds: string[]): Promise<number> {
    const { db, log, tenantShards } = this.#ctx
    const { results, failed } = await this.#byShard.run(tenantIds, (ids) => numberFreeEvents(db, ids, eventBatch, tenantShards))
    for (const error of failed.values()) {
      if (error instanceof Error && !this.#logged.has(error)) {
        this.#logged.add(error)
        log.error({ err: error }, 'events of some tenants not numbered; trying again')
      }
    }
    return Math.max(0, ...results)
  }
}
