import { setTimeout as delay } from 'node:timers/promises'
import { Overloaded } from '@atrium/traffic/overloaded'
import { Semaphore } from '@atrium/traffic/semaphore'
import type { TenantShards } from './tenant-shards.ts'

/** Shards that are worked on at once. A shard that does not answer in time no longer counts. */
const atOnce = 4
const patienceMs = 1_000
/** After a failure, a shard is left out for as long. */
const pauseMs = 500

interface Outcome<T> {
  results: T[]
  /** The error of each tenant whose shard failed, did not answer in time, or is left out. */
  failed: Map<string, unknown>
}

/**
 * Does one kind of work for many tenants, shard by shard: a node of the cluster that is down or hangs does not delay the
 * tenants of other nodes. On one PostgreSQL, all tenants are one call, and its error is thrown.
 */
export class ByShard {
  readonly #shards: TenantShards
  readonly #times: { patienceMs: number; pauseMs: number }
  readonly #permits = new Semaphore(atOnce)
  /** Shards that are left out, with the error of their tenants. */
  readonly #leftOut = new Map<number, unknown>()

  constructor(shards: TenantShards, times = { patienceMs, pauseMs }) {
    this.#shards = shards
    this.#times = times
  }

  get isSpread(): boolean {
    return this.#shards.isSpread
  }

  async run<T>(tenantIds: string[], work: (tenantIds: string[]) => Promise<T>): Promise<Outcome<T>> {
    if (!this.isSpread) return { results: [await work(tenantIds)], failed: new Map() }
    const outcome: Outcome<T> = { results: [], failed: new Map() }
    const runOne = async (shard: number, ids: string[]) => {
      try {
        outcome.results.push(await this.#permits.run(() => this.#workOn(shard, () => work(ids))))
      } catch (error) {
        for (const id of ids) outcome.failed.set(id, error)
      }
    }
    await Promise.all([...this.#shards.group(tenantIds)].map(([shard, ids]) => runOne(shard, ids)))
    return outcome
  }

  async #workOn<T>(shard: number, work: () => Promise<T>): Promise<T> {
    if (this.#leftOut.has(shard)) throw this.#leftOut.get(shard)
    this.#leftOut.set(shard, new Overloaded('a shard does not answer in time'))
    const answer = work()
    answer.then(
      () => this.#leftOut.delete(shard),
      (error: unknown) => {
        this.#leftOut.set(shard, error)
        setTimeout(() => this.#leftOut.delete(shard), this.#times.pauseMs).unref()
      },
    )
    const answered = new AbortController()
    const late = delay(this.#times.patienceMs, undefined, { signal: answered.signal, ref: false })
    try {
      return await Promise.race([answer, late.then(() => Promise.reject(this.#leftOut.get(shard)))])
    } finally {
      answered.abort()
    }
  }
}
