import { isLocked, isMisplaced, isPassing, sqlStateOf } from '@atrium/traffic/database-errors'
import { OutcomeUnknown } from '@atrium/traffic/overloaded'
import { Semaphore } from '@atrium/traffic/semaphore'
import type { TenantShards } from './tenant-shards.ts'

/** Statements to one shard at once. */
const width = 2
const firstPauseMs = 250
const maxPauseMs = 4_000

interface Gate {
  permits: Semaphore
  pauseMs: number
  /** Until then, work on the shard fails with the error. */
  closedUntilMs: number
  error: unknown
}

/**
 * Guards work on single tenants: a shard that does not answer holds a few connections, and one whose node has failed is
 * left alone for up to four seconds. Other errors close nothing: a lock or a row of one tenant must not delay the other
 * tenants of the shard. On one PostgreSQL, all work runs at once.
 */
export class ShardGuard {
  readonly shards: TenantShards
  readonly #gates = new Map<number, Gate>()

  constructor(shards: TenantShards) {
    this.shards = shards
  }

  async run<T>(tenantId: string, work: () => Promise<T>): Promise<T> {
    if (!this.shards.isSpread) return work()
    const gate = this.#gateOf(this.shards.shardOf(tenantId))
    return gate.permits.run(() => enter(gate, work))
  }

  /** The hashes of the shards that are left alone now. */
  closed(): { firsts: number[]; lasts: number[] } {
    const now = performance.now()
    const ranges = [...this.#gates].filter(([, gate]) => gate.closedUntilMs > now).map(([shard]) => this.shards.hashesOf(shard))
    return { firsts: ranges.map(([first]) => first), lasts: ranges.map(([, last]) => last) }
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

async function enter<T>(gate: Gate, work: () => Promise<T>): Promise<T> {
  if (performance.now() < gate.closedUntilMs) throw gate.error
  try {
    const result = await work()
    gate.pauseMs = firstPauseMs
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

/** Whether a node refused or cut the connection, did not answer in time, or has no resources left. */
function isNodeFault(error: unknown): boolean {
  const cause = error instanceof OutcomeUnknown ? error.cause : error
  // 40: a conflict with another transaction. A misplaced statement is the fault of one connection.
  return isPassing(cause) && !isLocked(cause) && !isMisplaced(cause) && !sqlStateOf(cause)?.startsWith('40')
}
