/**
 * A number for each key, in bounded memory however many keys there are: entries are in two generations, and when the
 * young one is full the old one is dropped. A dropped entry was not used for a whole generation.
 */
export class BoundedCounts<Value> {
  readonly #maxEntries: number
  #young = new Map<string, Value>()
  #old = new Map<string, Value>()

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries
  }

  get size(): number {
    return this.#young.size + this.#old.size
  }

  /** A read counts as use, so that a caller that is refused again and again is not forgotten. */
  get(key: string): Value | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) this.set(key, old)
    return old
  }

  set(key: string, value: Value): void {
    if (this.#young.size >= this.#maxEntries && !this.#young.has(key)) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, value)
  }
}
