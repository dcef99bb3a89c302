/** A reader is measured over this time of waiting at least, and twice this time at most. */
const windowMs = 10_000
/** 2 Mbit/s. */
const slowBytesPerSecond = 256 * 1024

/**
 * How fast a reader takes an answer. Only the time in which the server waits for the reader counts, and not that in which
 * the answer waits for the database.
 */
export class ReaderPace {
  readonly #windowMs: number
  #bytes = 0
  #waitedMs = 0
  #waitingSinceMs: number | undefined

  constructor(window = windowMs) {
    this.#windowMs = window
  }

  /** A piece was written, and the reader is waited for. */
  begin(): void {
    this.#waitingSinceMs = performance.now()
  }

  /** The reader took the piece. */
  took(bytes: number): void {
    this.#waitedMs += this.#openMs()
    this.#waitingSinceMs = undefined
    this.#bytes += bytes
    // What was long ago counts less and less, so that a fast beginning does not hide a slow end.
    for (; this.#waitedMs > 2 * this.#windowMs; this.#waitedMs /= 2) this.#bytes /= 2
  }

  /** Infinity: the reader is fast, or was not waited for long enough to tell. */
  slowBytesPerSecond(): number {
    const openMs = this.#openMs()
    // What the buffers of the system took before does not count for a reader that takes nothing.
    if (openMs >= this.#windowMs) return 0
    const waitedMs = this.#waitedMs + openMs
    const pace = this.#bytes / (waitedMs / 1_000)
    return waitedMs >= this.#windowMs && pace < slowBytesPerSecond ? pace : Infinity
  }

  #openMs(): number {
    return this.#waitingSinceMs === undefined ? 0 : performance.now() - this.#waitingSinceMs
  }
}
