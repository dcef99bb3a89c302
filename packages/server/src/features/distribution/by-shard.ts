import { setTimeout as delay } from 'node:timers/promises'
import { Overloaded } from '@atrium/traffic/overloaded'
import { Semaphore } from '@atrium/traffic/semaphore'
import { isNodeFault } from './is-node-fault.ts'
import type { TenantShards } from './tenant-shards.ts'

/** Shards that are worked on at once. One that has not answered after `countedMs` no longer counts. */
const atOnce = 4
const countedMs = 250
const patienceMs = 1_000
/** After a failure, a shard is left out for as long; twice as long after each further one of its node. */
const pauseMs = 500
const maxPauseMs = 4_000

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
  /** Shards whose node has failed, with the error and the pause after the next failure. */
  readonly #failing = new Map<number, { error: unknown; nextPauseMs: number }>()
  /** The work on these shards has had no answer in time, or is a probe. */
  readonly #hanging = new Set<number>()
  /** No probe begins before. */
  #probeAtMs = 0

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
        outcome.results.push(await this.#workOn(shard, () => work(ids)))
      } catch (error) {
        for (const id of ids) outcome.failed.set(id, error)
      }
    }
    await Promise.all([...this.#shards.group(tenantIds)].map(([shard, ids]) => runOne(shard, ids)))
    return outcome
  }

  async #workOn<T>(shard: number, work: () => Promise<T>): Promise<T> {
    if (this.#failing.has(shard)) return this.#probe(shard, work)
    const answered = new AbortController()
    const after = (ms: number) => delay(ms, undefined, { signal: answered.signal, ref: false })
    const patience = this.#times.patienceMs
    const counted = Math.min(countedMs, patience)
    try {
      const { answer } = await this.#permits.run(async () => {
        const begun = this.#begin(shard, work)
        await Promise.race([begun, after(counted)])
        return { answer: begun }
      })
      const late = after(patience - counted).then(() => {
        if (this.#leftOut.has(shard)) this.#hanging.add(shard)
        throw this.#leftOut.get(shard)
      })
      return await Promise.race([answer, late])
    } finally {
      answered.abort()
    }
  }

  /**
   * Tries whether the shard is back. Nobody waits for that: its tenants get the answers of the next call. The coordinator
   * cannot cancel a statement that waits for a node which hangs, so each attempt costs it a session until the node is back:
   * there is one at a time, for the shards of all nodes, and a pause after one that had no answer.
   */
  #probe(shard: number, work: () => Promise<unknown>): never {
    const startedAtMs = performance.now()
    if (!this.#leftOut.has(shard) && this.#hanging.size === 0 && startedAtMs >= this.#probeAtMs) {
      this.#hanging.add(shard)
      void this.#begin(shard, work).catch(() => {
        const now = performance.now()
        if (now - startedAtMs > this.#times.patienceMs) this.#probeAtMs = now + maxPauseMs
      })
    }
    throw this.#leftOut.get(shard) ?? this.#failing.get(shard)?.error
  }

  #begin<T>(shard: number, work: () => Promise<T>): Promise<T> {
    if (this.#leftOut.has(shard)) throw this.#leftOut.get(shard)
    this.#leftOut.set(shard, new Overloaded('a shard does not answer in time'))
    const answer = work()
    answer.then(
      () => {
        this.#hanging.delete(shard)
        this.#failing.delete(shard)
        this.#leftOut.delete(shard)
      },
      (error: unknown) => this.#leaveOut(shard, error),
    )
    return answer
  }

  #leaveOut(shard: number, error: unknown): void {
    const pause = this.#failing.get(shard)?.nextPauseMs ?? this.#times.pauseMs
    if (isNodeFault(error)) this.#failing.set(shard, { error, nextPauseMs: Math.min(pause * 2, maxPauseMs) })
    else this.#failing.delete(shard)
    this.#hanging.delete(shard)
    this.#leftOut.set(shard, error)
    setTimeout(() => this.#leftOut.delete(shard), pause).unref()
  }
}
