/** Lets so many go at once, the others in the order in which they came. */
export class Slots {
  #limit: number
  #taken = 0
  readonly #waiting: (() => void)[] = []

  constructor(limit: number) {
    this.#limit = limit
  }

  get limit(): number {
    return this.#limit
  }

  /** Fewer than are taken now: those are let finish. */
  set limit(limit: number) {
    this.#limit = limit
    this.#admit()
  }

  async acquire(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve)
      this.#admit()
    })
  }

  release(): void {
    this.#taken--
    this.#admit()
  }

  #admit(): void {
    while (this.#taken < this.#limit && this.#waiting.length > 0) {
      this.#taken++
      this.#waiting.shift()!()
    }
  }
}
