/** A value with subscribers: the state of the page outside components. */
export class Store<T extends object> {
  #value: T
  readonly #listeners = new Set<() => void>()

  constructor(value: T) {
    this.#value = value
  }

  get value(): T {
    return this.#value
  }

  update(patch: Partial<T>): void {
    this.#value = { ...this.#value, ...patch }
    for (const listener of this.#listeners) listener()
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}
