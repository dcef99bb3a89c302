interface TurnsOptions {
  atOnce: number
  mostWaiting: number
  patienceMs: number
  /** For those whose turn does not come. */
  refusal: () => Error
}

interface Waiting {
  start: () => void
  timer: NodeJS.Timeout
}

/** Lets only so many do something at once; the others wait for their turn, and are refused when it does not come. */
export class Turns {
  readonly #options: TurnsOptions
  readonly #waiting = new Set<Waiting>()
  #running = 0

  constructor(options: TurnsOptions) {
    this.#options = options
  }

  /** Throws the refusal when too many wait, or after waiting in vain: nothing was begun. */
  async run<T>(act: () => Promise<T>): Promise<T> {
    if (this.#running < this.#options.atOnce) this.#running++
    else await this.#turn()
    try {
      return await act()
    } finally {
      const [next] = this.#waiting
      if (next) this.#pass(next)
      else this.#running--
    }
  }

  #turn(): Promise<void> {
    const { mostWaiting, patienceMs, refusal } = this.#options
    return new Promise((resolve, reject) => {
      if (this.#waiting.size >= mostWaiting) return reject(refusal())
      const timer = setTimeout(() => {
        this.#waiting.delete(waiting)
        reject(refusal())
      }, patienceMs)
      const waiting: Waiting = { start: resolve, timer }
      this.#waiting.add(waiting)
    })
  }

  /** The turn goes from one to the next: how many run stays as it is. */
  #pass(next: Waiting): void {
    clearTimeout(next.timer)
    this.#waiting.delete(next)
    next.start()
  }
}
