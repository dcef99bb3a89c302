interface QueueBounds {
  maxWaiting: number
  timeoutMs: number
  /** The error if too many wait, or the time has passed. */
  refusal: () => Error
}

interface Waiting {
  start: () => void
  timer: NodeJS.Timeout | undefined
}

/** A counting semaphore, first come, first served. Without bounds the queue has no limit and no timeout. */
export class Semaphore {
  #limit: number
  readonly #bounds: QueueBounds | undefined
  readonly #waiting = new Set<Waiting>()
  #running = 0

  constructor(limit: number, bounds?: QueueBounds) {
    this.#limit = limit
    this.#bounds = bounds
  }

  get limit(): number {
    return this.#limit
  }

  /** A lower limit interrupts nothing: calls that exceed it finish first. */
  set limit(limit: number) {
    this.#limit = limit
    this.#admit()
  }

  /** Runs `act` with a permit; synchronously if one is free. If none is available, throws before `act` begins. */
  async run<T>(act: () => Promise<T>): Promise<T> {
    if (!this.#take()) await this.#wait()
    try {
      return await act()
    } finally {
      this.release()
    }
  }

  /** For work that does not end where it begins: each call must be followed by one of `release`. */
  async acquire(): Promise<void> {
    if (!this.#take()) await this.#wait()
  }

  release(): void {
    this.#running--
    this.#admit()
  }

  #take(): boolean {
    if (this.#running >= this.#limit) return false
    this.#running++
    return true
  }

  #wait(): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { start: resolve, timer: undefined }
      if (this.#bounds) {
        const { maxWaiting, timeoutMs, refusal } = this.#bounds
        if (this.#waiting.size >= maxWaiting) return reject(refusal())
        waiting.timer = setTimeout(() => {
          this.#waiting.delete(waiting)
          reject(refusal())
        }, timeoutMs)
      }
      this.#waiting.add(waiting)
    })
  }

  /** The permit is passed to the waiting call before anything else runs, so that no later call overtakes it. */
  #admit(): void {
    for (const waiting of this.#waiting) {
      if (!this.#take()) return
      this.#waiting.delete(waiting)
      clearTimeout(waiting.timer)
      waiting.start()
    }
  }
}
