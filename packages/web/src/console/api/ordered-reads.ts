/** A request, and what is done with its answer. */
export interface Read {
  /** Sends the request. Resolves to what shows the answer. */
  readonly ask: (signal: AbortSignal) => Promise<() => void>
  readonly onError: (error: unknown) => void
  /** Reads all that is shown, and not only what is new. */
  readonly isWhole: boolean
}

/**
 * Sends the requests of one query one after the other, so that an older answer never replaces a newer one. A read that is
 * started while a request runs is sent when that has ended: the answer of that request may be from before a later write.
 */
export class OrderedReads {
  readonly #signal: AbortSignal
  #running: { readonly read: Read; isOutdated: boolean } | undefined
  #next: Read | undefined

  constructor(signal: AbortSignal) {
    this.#signal = signal
  }

  start(read: Read): void {
    if (!this.#running) void this.#run(read)
    else if (!this.#next?.isWhole) this.#next = read
  }

  /** What is shown was changed. The answer that is on its way may be from before that: it is dropped, and asked for again. */
  outdate(): void {
    if (!this.#running) return
    this.#running.isOutdated = true
    this.start(this.#running.read)
  }

  async #run(read: Read): Promise<void> {
    const running = { read, isOutdated: false }
    this.#running = running
    try {
      const show = await read.ask(this.#signal)
      if (!this.#signal.aborted && !running.isOutdated) show()
    } catch (error) {
      if (!this.#signal.aborted && !running.isOutdated) read.onError(error)
    }
    this.#running = undefined
    const next = this.#next
    this.#next = undefined
    if (next && !this.#signal.aborted) void this.#run(next)
  }
}
