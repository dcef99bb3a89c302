import { setTimeout as delay } from 'node:timers/promises'
import { HeldElsewhere, Overloaded } from '@atrium/traffic/overloaded'
import { Semaphore } from '@atrium/traffic/semaphore'
import { isCoordinatorFull } from './is-node-fault.ts'
import { NodeProbes } from './node-probes.ts'
import type { TenantShards } from './tenant-shards.ts'

/** Shards that are worked on at once. One that has not answered after `countedMs` no longer counts. */
const atOnce = 4
const countedMs = 250
const timeoutMs = 1_000
/** After a failure, a shard is left out for as long; twice as long after each further one of its node. */
const pauseMs = 500
const maxPauseMs = 4_000

interface Failing {
  /** The first one of the outage. Tenants of the shard get it until the shard is back, so that callers log an outage once. */
  error: unknown
  /** Whether its last work had no answer in time. */
  isHung: boolean
  /** When the shard last failed, or when work on it was last requested. */
  usedAtMs: number
  /** How long the shard is left out after its next failure. */
  nextPauseMs: number
}

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
  readonly #times: { timeoutMs: number; pauseMs: number }
  readonly #permits = new Semaphore(atOnce)
  /** Shards that are left out, with the error of their tenants. */
  readonly #leftOut = new Map<number, unknown>()
  /** Shards whose node has failed. */
  readonly #failing = new Map<number, Failing>()
  readonly #probes = new NodeProbes(maxPauseMs)

  constructor(shards: TenantShards, times = { timeoutMs, pauseMs }) {
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
    const failing = this.#failing.get(shard)
    if (failing) return this.#probe(shard, failing, work)
    const answered = new AbortController()
    const after = (ms: number) => delay(ms, undefined, { signal: answered.signal, ref: false })
    const { timeoutMs } = this.#times
    const counted = Math.min(countedMs, timeoutMs)
    try {
      const { answer } = await this.#permits.run(async () => {
        const begun = this.#begin(shard, work)
        await Promise.race([begun, after(counted)])
        return { answer: begun }
      })
      const late = after(timeoutMs - counted).then(() => {
        throw this.#leftOut.get(shard)
      })
      return await Promise.race([answer, late])
    } finally {
      answered.abort()
    }
  }

  /**
   * Tries whether the shard is back. Nobody waits for that, because the tenants of other shards would wait too: its tenants
   * get the answers of the next call. Only after a quiet time the error is old, and the answer is waited for briefly.
   *
   * Of the shards of a node that hangs, one is tried at a time (NodeProbes). A failure that came at once costs the coordinator
   * no session, so a shard that failed so is tried after its own pause.
   */
  async #probe<T>(shard: number, failing: Failing, work: () => Promise<T>): Promise<T> {
    const now = performance.now()
    const isQuiet = now - failing.usedAtMs > maxPauseMs
    failing.usedAtMs = now
    const { isHung, error } = failing
    if (this.#leftOut.has(shard)) throw this.#leftOut.get(shard)
    const node = this.#shards.nodeOf(shard)
    if (isHung && !this.#probes.mayBegin(node)) throw error
    const answer = this.#begin(shard, work)
    if (isHung) this.#probes.begin(node)
    const end = () => {
      if (isHung) this.#probes.end(node)
    }
    answer.then(end, end)
    if (!isQuiet) throw this.#leftOut.get(shard)
    const answered = new AbortController()
    const late = delay(countedMs, undefined, { signal: answered.signal, ref: false }).then(() => {
      throw this.#leftOut.get(shard)
    })
    return Promise.race([answer, late]).finally(() => answered.abort())
  }

  #begin<T>(shard: number, work: () => Promise<T>): Promise<T> {
    if (this.#leftOut.has(shard)) throw this.#leftOut.get(shard)
    this.#leftOut.set(shard, this.#failing.get(shard)?.error ?? new Overloaded('a shard does not answer in time'))
    const startedAtMs = performance.now()
    const answer = work()
    answer.then(
      () => {
        this.#probes.answered(this.#shards.nodeOf(shard), startedAtMs)
        this.#failing.delete(shard)
        this.#leftOut.delete(shard)
      },
      (error: unknown) => this.#leaveOut(shard, error, startedAtMs),
    )
    return answer
  }

  #leaveOut(shard: number, last: unknown, startedAtMs: number): void {
    const before = this.#failing.get(shard)
    const node = this.#shards.nodeOf(shard)
    const isHung = performance.now() - startedAtMs > this.#times.timeoutMs
    const isFault = this.#probes.isFault(node, last, startedAtMs)
    // If it was failing before, or hung, its tenants got that error meanwhile. It stays the error of the outage.
    const error = isFault && (before || isHung) ? this.#leftOut.get(shard) : last
    const pause = before?.nextPauseMs ?? this.#times.pauseMs
    if (isFault) {
      if (before && isHung) this.#probes.pause(node)
      this.#failing.set(shard, { error, isHung, usedAtMs: performance.now(), nextPauseMs: Math.min(pause * 2, maxPauseMs) })
    } else if (!isUnasked(last)) this.#failing.delete(shard)
    this.#leftOut.set(shard, error)
    setTimeout(() => this.#leftOut.delete(shard), pause).unref()
  }
}

/** Whether the work did not get as far as the node: there was no connection to the coordinator for it. */
function isUnasked(error: unknown): boolean {
  return (error instanceof Overloaded && !(error instanceof HeldElsewhere)) || isCoordinatorFull(error)
}
