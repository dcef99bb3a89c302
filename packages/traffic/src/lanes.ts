import { Overloaded } from './overloaded.ts'
import { patience } from './patience.ts'

/** More at once would only wait for each other's locks. */
const width = 6
const maxWaitingInLane = 1_000
const maxWaiting = 2_000

interface Lane {
  running: number
  waiting: { enter: () => void; refuse: (error: Overloaded) => void; timer: NodeJS.Timeout }[]
}

/**
 * Keeps what works on one thing (a collection, a session) apart from all else: only a few at once, the others wait here and not on connections.
 * So a row that is held for long takes up few of them, however many callers want it.
 */
export class Lanes {
  readonly #lanes = new Map<string, Lane>()
  #waiting = 0

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const lane = this.#lanes.get(key) ?? { running: 0, waiting: [] }
    this.#lanes.set(key, lane)
    if (lane.running < width) lane.running++
    else await this.#wait(lane)
    try {
      return await work()
    } finally {
      this.#leave(key, lane)
    }
  }

  /** Whoever leaves gives the place to the next: running stays as it is. */
  #leave(key: string, lane: Lane): void {
    const next = lane.waiting.shift()
    if (next) {
      this.#waiting--
      clearTimeout(next.timer)
      next.enter()
    } else if (--lane.running === 0) this.#lanes.delete(key)
  }

  #wait(lane: Lane): Promise<void> {
    if (lane.waiting.length >= maxWaitingInLane || this.#waiting >= maxWaiting)
      return Promise.reject(new Overloaded('too many wait for the same row'))
    this.#waiting++
    return new Promise((enter, refuse) => {
      const timer = setTimeout(() => {
        lane.waiting.splice(lane.waiting.indexOf(waiting), 1)
        this.#waiting--
        refuse(new Overloaded('others worked on the same row for too long'))
      }, patience.laneMs)
      const waiting = { enter, refuse, timer }
      lane.waiting.push(waiting)
    })
  }
}
