/** A reader is judged by what it took while it was waited for this long, or twice as long. */
const windowMs = 10_000
/** 2 Mbit/s. */
const slowBytesPerSecond = 256 * 1024

/**
 * How fast a reader takes an answer, counted only while the reader is waited for: an answer that waits for the database is
 * not the reader's fault.
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
