import { setTimeout as delay } from 'node:timers/promises'
import { Semaphore } from '@atrium/traffic/semaphore'
import { isStatementTimeout } from '#db/sql-errors.ts'
import { isCoordinatorFull } from './is-node-fault.ts'
import { NodeProbes } from './node-probes.ts'
import type { TenantShards } from './tenant-shards.ts'

/** Statements to one shard at once. */
const width = 2
const firstPauseMs = 250
const maxPauseMs = 4_000
/** A statement that fails later has waited for a node that hangs. */
const hangsMs = 1_000

interface Log {
  error(fields: object, message: string): void
  info(fields: object, message: string): void
}

interface Gate {
  shard: number
  /** The node of the shard. */
  node: number
  permits: Semaphore
  pauseMs: number
  /** Until then, work on the shard fails with the error. */
  closedUntilMs: number
  /** The error of the last statement, if the node failed. */
  error: unknown
  failedAtMs: number
  /** Whether that statement waited for a node that hangs. */
  isHung: boolean
  /** Whether a statement tests at the moment if the node is back. */
  isProbed: boolean
}

/**
 * Guards work on single tenants: a shard that does not answer holds a few connections, and one whose node has failed is
 * left alone for up to four seconds. Other errors close nothing: a lock or a row of one tenant must not delay the other
 * tenants of the shard, and neither must a statement that takes too long on a node that answers others. On one PostgreSQL,
 * all work runs at once.
 *
 * One statement at a time finds out whether the shards of a node that hangs are back (NodeProbes). A failure that came at once
 * costs the coordinator no session, so shards that failed so are tried one by one, each after its own pause.
 */
export class ShardGuard {
  readonly shards: TenantShards
  readonly #log: Log | undefined
  readonly #gates = new Map<number, Gate>()
  readonly #nodeFaults = new WeakSet<Error>()
  readonly #probes = new NodeProbes(maxPauseMs)

  /** `log` gets one line when a shard fails, and one when it is back, however much work waits for it. */
  constructor(shards: TenantShards, log?: Log) {
    this.shards = shards
    this.#log = log
  }

  /** Whether work failed with the error because its shard has failed, which is in the log. */
  hasLogged(error: unknown): boolean {
    return error instanceof Error && this.#nodeFaults.has(error)
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

  #isClosed({ node, closedUntilMs, error, isHung, isProbed }: Gate): boolean {
    if (error === undefined) return false
    return performance.now() < closedUntilMs || isProbed || (isHung && !this.#probes.mayBegin(node))
  }

  async #enter<T>(gate: Gate, work: () => Promise<T>): Promise<T> {
    if (this.#isClosed(gate)) throw gate.error
    if (gate.error === undefined) return this.#try(gate, work)
    const { isHung, node } = gate
    gate.isProbed = true
    if (isHung) this.#probes.begin(node)
    try {
      return await this.#try(gate, work)
    } finally {
      gate.isProbed = false
      if (isHung) this.#probes.end(node)
    }
  }

  async #try<T>(gate: Gate, work: () => Promise<T>): Promise<T> {
    const startedAtMs = performance.now()
    try {
      const result = await work()
      this.#probes.answered(gate.node, startedAtMs)
      this.#open(gate)
      return result
    } catch (error) {
      if (this.#probes.isFault(gate.node, error, startedAtMs)) this.#close(gate, error, performance.now() - startedAtMs > hangsMs)
      // Its node answers others, and another tenant of the shard need not wait until it is tried again.
      else if (isStatementTimeout(error)) this.#open(gate)
      // It keeps its place, so that a coordinator without a free connection is not asked again at once.
      else if (isCoordinatorFull(error)) await delay(firstPauseMs)
      throw error
    }
  }

  #open(gate: Gate): void {
    gate.pauseMs = firstPauseMs
    if (gate.error === undefined) return
    gate.error = undefined
    const { shard, failedAtMs } = gate
    this.#log?.info({ shard, after_ms: Math.round(performance.now() - failedAtMs) }, 'a shard of the cluster is back')
  }

  #close(gate: Gate, error: unknown, isHung: boolean): void {
    const now = performance.now()
    if (error instanceof Error) this.#nodeFaults.add(error)
    if (isHung && gate.isProbed) this.#probes.pause(gate.node)
    // Of several that fail together, the first one decides, but a node that let one of them wait hangs.
    if (now < gate.closedUntilMs) {
      gate.isHung ||= isHung
      return
    }
    if (gate.error === undefined) {
      gate.failedAtMs = now
      this.#log?.error({ err: error, shard: gate.shard }, 'a shard of the cluster has failed; work on it waits')
    }
    gate.error = error
    gate.isHung = isHung
    gate.closedUntilMs = now + gate.pauseMs
    gate.pauseMs = Math.min(gate.pauseMs * 2, maxPauseMs)
  }

  #gateOf(shard: number): Gate {
    const gate = this.#gates.get(shard) ?? {
      shard,
      node: this.shards.nodeOf(shard),
      permits: new Semaphore(width),
      pauseMs: firstPauseMs,
      closedUntilMs: 0,
      error: undefined,
      failedAtMs: 0,
      isHung: false,
      isProbed: false,
    }
    this.#gates.set(shard, gate)
    return gate
  }
}
