/**
 * A number for each key, in bounded memory however many keys there are: entries live in two generations, and when the young one is full the
 * old one is dropped. What is dropped was not used for a whole generation.
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

  /** A look counts as use: one who is refused again and again must not be forgotten for it. */
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
