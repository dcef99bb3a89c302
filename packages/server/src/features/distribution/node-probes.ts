import { isStatementTimeout } from '#db/sql-errors.ts'
import { isNodeFault } from './is-node-fault.ts'

interface Probe {
  /** Whether a shard of the node is being tried. */
  isTried: boolean
  /** The earliest time at which one is tried again. */
  nextAtMs: number
  /** When the newest work began that the node has done. */
  answeredSinceMs: number
}

/**
 * Counts the attempts on nodes that hang. A statement that waits for such a node ends at its time limit, but its session of
 * the coordinator usually stays until the node is back, because Citus waits for the node to cancel the statement. So there
 * is one attempt at a time for all shards of a node, and a pause after one that had no answer. Each node has its own
 * attempts, so it is tried as often as if it were the only one that hangs. It also decides whether a node has failed.
 */
export class NodeProbes {
  readonly #pauseMs: number
  readonly #byNode = new Map<number, Probe>()

  constructor(pauseMs: number) {
    this.#pauseMs = pauseMs
  }

  mayBegin(node: number): boolean {
    const probe = this.#byNode.get(node)
    return !probe || (!probe.isTried && performance.now() >= probe.nextAtMs)
  }

  begin(node: number): void {
    this.#of(node).isTried = true
  }

  end(node: number): void {
    this.#of(node).isTried = false
  }

  /** The node has done work that began then. */
  answered(node: number, beganAtMs: number): void {
    const probe = this.#of(node)
    probe.answeredSinceMs = Math.max(probe.answeredSinceMs, beganAtMs)
  }

  /**
   * Whether work that began then failed by a fault of the node. A node that hangs lets statements run into their time limit,
   * and so do many rows of one tenant. If the node has done work that began later, the rows were the reason.
   */
  isFault(node: number, error: unknown, beganAtMs: number): boolean {
    if (!isNodeFault(error)) return false
    return !isStatementTimeout(error) || this.#of(node).answeredSinceMs <= beganAtMs
  }

  /** An attempt had no answer. */
  pause(node: number): void {
    this.#of(node).nextAtMs = performance.now() + this.#pauseMs
  }

  #of(node: number): Probe {
    const probe = this.#byNode.get(node) ?? { isTried: false, nextAtMs: 0, answeredSinceMs: 0 }
    this.#byNode.set(node, probe)
    return probe
  }
}
