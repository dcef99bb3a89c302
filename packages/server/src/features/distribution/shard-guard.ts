import { Semaphore } from '@atrium/traffic/semaphore'
import { isNodeFault } from './is-node-fault.ts'
import type { TenantShards } from './tenant-shards.ts'

/** Statements to one shard at once. */
const width = 2
const firstPauseMs = 250
const maxPauseMs = 4_000
/** A statement that fails later has waited for a node that hangs. */
const hangsMs = 1_000

interface Gate {
  permits: Semaphore
  pauseMs: number
  /** Until then, work on the shard fails with the error. */
  closedUntilMs: number
  /** Of the last statement, if the node failed. */
  error: unknown
}

/**
 * Guards work on single tenants: a shard that does not answer holds a few connections, and one whose node has failed is
 * left alone for up to four seconds. Other errors close nothing: a lock or a row of one tenant must not delay the other
 * tenants of the shard. On one PostgreSQL, all work runs at once.
 *
 * The coordinator cannot cancel a statement that waits for a node which hangs, so each attempt costs it a session until
 * the node is back, although the client has given up. So one statement at a time finds out whether shards are back, and
 * there is a pause after one that had no answer.
 */
export class ShardGuard {
  readonly shards: TenantShards
  readonly #gates = new Map<number, Gate>()
  #isProbing = false
  /** No shard that has failed is tried before. */
  #probeAtMs = 0

  constructor(shards: TenantShards) {
    this.shards = shards
  }

  async run<T>(tenantId: string, work: () => Promise<T>): Promise<T> {
    if (!this.shards.isSpread) return work()
    const gate = this.#gateOf(this.shards.shardOf(tenantId))
    return gate.permits.run(() => this.#enter(gate, work))
  }

  /** The hashes of the shards that are left alone now. */
  closed(): { firsts: number[]; lasts: number[] } {
    const ranges = [...this.#gates].filter(([, gate]) => this.#isClosed(gate)).map(([shard]) => this.shards.hashesOf(shard))
    return { firsts: ranges.map(([first]) => first), lasts: ranges.map(([, last]) => last) }
  }

  #isClosed({ closedUntilMs, error }: Gate): boolean {
    const now = performance.now()
    return now < closedUntilMs || (error !== undefined && (this.#isProbing || now < this.#probeAtMs))
  }

  async #enter<T>(gate: Gate, work: () => Promise<T>): Promise<T> {
    if (this.#isClosed(gate)) throw gate.error
    if (gate.error === undefined) return this.#try(gate, work)
    const startedAtMs = performance.now()
    this.#isProbing = true
    try {
      return await this.#try(gate, work)
    } catch (error) {
      const now = performance.now()
      if (now - startedAtMs > hangsMs) this.#probeAtMs = now + maxPauseMs
      throw error
    } finally {
      this.#isProbing = false
    }
  }

  async #try<T>(gate: Gate, work: () => Promise<T>): Promise<T> {
    try {
      const result = await work()
      gate.pauseMs = firstPauseMs
      gate.error = undefined
      return result
    } catch (error) {
      // Of several that fail together, the first one decides.
      if (isNodeFault(error) && performance.now() >= gate.closedUntilMs) {
        gate.error = error
        gate.closedUntilMs = performance.now() + gate.pauseMs
        gate.pauseMs = Math.min(gate.pauseMs * 2, maxPauseMs)
      }
      throw error
    }
  }

  #gateOf(shard: number): Gate {
    const gate = this.#gates.get(shard) ?? {
      permits: new Semaphore(width),
      pauseMs: firstPauseMs,
      closedUntilMs: 0,
      error: undefined,
    }
    this.#gates.set(shard, gate)
    return gate
  }
}
