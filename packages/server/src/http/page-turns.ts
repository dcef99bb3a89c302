import { ApiError } from './api-error.ts'

interface TurnsOptions {
  atOnce: number
  mostWaiting: number
  patienceMs: number
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

  /** Throws `unavailable` when too many wait, or after waiting in vain: nothing was begun. */
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
    const { mostWaiting, patienceMs } = this.#options
    return new Promise((resolve, reject) => {
      if (this.#waiting.size >= mostWaiting) return reject(tooMany())
      const timer = setTimeout(() => {
        this.#waiting.delete(waiting)
        reject(tooMany())
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

function tooMany(): ApiError {
  return new ApiError('unavailable', { message: 'Too many pages are being read.', retryAfterSeconds: 1 })
}

/**
 * For pages of lists, from the query until the answer is made. A page of large items is in memory four times (as it arrives, as rows, as text and as
 * bytes), some 13 MB: as many at once as the database has connections took 300 MiB. The process turns rows into an answer one at a time in any case.
 */
export const pageTurns = new Turns({ atOnce: 4, mostWaiting: 1_000, patienceMs: 5_000 })
