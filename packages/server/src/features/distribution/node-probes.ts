interface Probe {
  /** Whether a shard of the node is being tried. */
  isTried: boolean
  /** The earliest time at which one is tried again. */
  nextAtMs: number
}

/**
 * Counts the attempts on nodes that hang. The coordinator cannot cancel a statement that waits for such a node, so each
 * attempt costs it a session until the node is back, although the client has given up. So there is one at a time for all
 * shards of a node, and a pause after one that had no answer. Each node has its own attempts, so it is tried as often as
 * if it were the only one that hangs.
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

  /** An attempt had no answer. */
  pause(node: number): void {
    this.#of(node).nextAtMs = performance.now() + this.#pauseMs
  }

  #of(node: number): Probe {
    const probe = this.#byNode.get(node) ?? { isTried: false, nextAtMs: 0 }
    this.#byNode.set(node, probe)
    return probe
  }
}
