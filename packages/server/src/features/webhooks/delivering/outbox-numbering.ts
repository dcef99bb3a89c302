import type { Context } from '#features/context.ts'
import { ByShard } from '#features/distribution/by-shard.ts'
import { numberFreeEvents } from '#features/events/numbering-store.ts'
import { listWaitingTenants, tenantsOf } from '#features/events/store.ts'

const tenantBatch = 50
const eventBatch = 500
/** Tenants of one shard that wait for it. A later look finds further ones again. */
const maxWaiting = 2_000
/** Named tenants that are not numbered yet. A search finds further ones. */
const maxNamed = 2_000
/** Just below the interval of the worker's polls. */
const searchIntervalMs = 900
/** A search passes the entries of all events that were numbered since the last vacuum. It takes at most this share of the time. */
const maxSearchShare = 0.1

interface ShardQueue {
  /** The tenants that are next, in the order in which they were found. */
  waiting: Set<string>
  numbering: Set<string>
  done: Promise<void> | undefined
}

/**
 * Numbers the events in the outbox, a part at a time, of other tenants each time. Wake-ups name the tenants, whose events
 * are read from where the last read ended. Once a second a search finds the others, and reads from the beginning.
 */
export class OutboxNumbering {
  readonly #ctx: Pick<Context, 'db' | 'log' | 'tenantShards' | 'outbox'>
  readonly #byShard: ByShard
  readonly #onNumbered: () => void
  readonly #queues = new Map<number, ShardQueue>()
  readonly #named = new Set<string>()
  #afterTenantId = ''
  /** Whether a wake-up without names came, or some may be lost. */
  #isSearchAsked = true
  #searchedAtMs = -Infinity
  #searchTookMs = 0
  #isFinishing = false
  /** A shard that is left out keeps the error of its outage. */
  readonly #logged = new WeakSet<Error>()

  /** `onNumbered` is called when events of a shard have been numbered, and there may be more. */
  constructor(ctx: Pick<Context, 'db' | 'log' | 'tenantShards' | 'outbox'>, onNumbered: () => void) {
    this.#ctx = ctx
    this.#byShard = new ByShard(ctx.tenantShards)
    this.#onNumbered = onNumbered
  }

  /** Notes the payload of a wake-up (eventChannel) for the next part. */
  note(payload: string): void {
    const tenantIds = tenantsOf(payload)
    if (!tenantIds) this.#isSearchAsked = true
    else for (const id of tenantIds) if (this.#named.size < maxNamed) this.#named.add(id)
  }

  /** Called when wake-ups may be lost, such as after a failover. */
  forget(): void {
    this.#ctx.outbox.floors?.forgetAll()
    this.#isSearchAsked = true
  }

  /**
   * Numbers the next part; returns whether there may be more. Where events are spread, it only begins, so that a node
   * which hangs does not delay the deliveries of others.
   */
  async next(): Promise<boolean> {
    return this.#isSearchDue() ? this.#search() : this.#takeNamed()
  }

  /** Begins nothing more. Resolves when nothing is being numbered. */
  async finish(): Promise<void> {
    this.#isFinishing = true
    await Promise.all([...this.#queues.values()].flatMap(({ done }) => done ?? []))
  }

  #isSearchDue(): boolean {
    if (this.#afterTenantId !== '') return true
    const passedMs = performance.now() - this.#searchedAtMs
    return (this.#isSearchAsked || passedMs >= searchIntervalMs) && passedMs >= this.#searchTookMs / maxSearchShare
  }

  async #search(): Promise<boolean> {
    const { db, tenantShards, outbox } = this.#ctx
    const after = this.#afterTenantId
    const startedAtMs = performance.now()
    this.#isSearchAsked = false
    const tenantIds = await listWaitingTenants(db, after, tenantBatch)
    this.#searchedAtMs = performance.now()
    this.#searchTookMs = this.#searchedAtMs - startedAtMs + (after === '' ? 0 : this.#searchTookMs)
    const isFull = tenantIds.length === tenantBatch
    this.#afterTenantId = isFull ? (tenantIds.at(-1) ?? '') : ''
    outbox.floors?.forget(tenantIds)
    for (const id of tenantIds) if (!this.#isNumbering(id)) this.#named.delete(id)
    const isMore = this.#freeNamed().length > 0
    if (tenantIds.length === 0) return isMore || (after !== '' && !tenantShards.isSpread)
    if (!tenantShards.isSpread) {
      const most = await this.#number(tenantIds)
      return isMore || isFull || after !== '' || (most ?? 0) >= eventBatch
    }
    for (const [shard, ids] of tenantShards.group(tenantIds)) this.#add(shard, ids)
    return isMore || isFull
  }

  async #takeNamed(): Promise<boolean> {
    const { tenantShards } = this.#ctx
    const free = this.#freeNamed()
    const tenantIds = free.slice(0, tenantBatch)
    if (tenantIds.length === 0) return false
    for (const id of tenantIds) this.#named.delete(id)
    if (tenantShards.isSpread) for (const [shard, ids] of tenantShards.group(tenantIds)) this.#add(shard, ids)
    // Which of them has more is not known.
    else if (((await this.#number(tenantIds)) ?? 0) >= eventBatch) for (const id of tenantIds) this.#named.add(id)
    return this.#freeNamed().length > 0
  }

  /** Without those that are being numbered. Their events may be newer than what was read, so they stay named. */
  #freeNamed(): string[] {
    return [...this.#named].filter((id) => !this.#isNumbering(id))
  }

  #isNumbering(tenantId: string): boolean {
    return this.#queues.get(this.#ctx.tenantShards.shardOf(tenantId))?.numbering.has(tenantId) ?? false
  }

  /** Tenants wait while their shard is busy. A look begins with the lowest ids, so it would skip all others each time. */
  #add(shard: number, tenantIds: string[]): void {
    const queue = this.#queues.get(shard) ?? { waiting: new Set(), numbering: new Set(), done: undefined }
    this.#queues.set(shard, queue)
    const { waiting, numbering } = queue
    for (const id of tenantIds) if (waiting.size < maxWaiting && !numbering.has(id)) waiting.add(id)
    if (!queue.done) this.#begin(queue)
  }

  #begin(queue: ShardQueue): void {
    const tenantIds = [...queue.waiting].slice(0, tenantBatch)
    if (tenantIds.length === 0 || this.#isFinishing) return
    queue.numbering = new Set(tenantIds)
    // While the shard is left out they stay the first.
    const leave = () => tenantIds.forEach((id) => queue.waiting.delete(id))
    queue.done = this.#number(tenantIds, leave)
      .catch(() => undefined)
      .then((count) => {
        queue.done = undefined
        queue.numbering.clear()
        // After a failure the shard is left out for a while, so a later look continues.
        if (count !== undefined) this.#begin(queue)
        if (count) this.#onNumbered()
      })
  }

  /** Returns the most that were numbered in one call; undefined: a shard failed or did not answer. */
  async #number(tenantIds: string[], onBegin?: () => void): Promise<number | undefined> {
    const { db, log, outbox } = this.#ctx
    const { results, failed } = await this.#byShard.run(tenantIds, (ids) => {
      onBegin?.()
      return numberFreeEvents(db, ids, eventBatch, outbox)
    })
    for (const error of failed.values()) {
      if (error instanceof Error && !this.#logged.has(error)) {
        this.#logged.add(error)
        log.error({ err: error }, 'events of some tenants not numbered; trying again')
      }
    }
    return failed.size > 0 ? undefined : Math.max(0, ...results)
  }
}
