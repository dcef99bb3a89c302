import { setTimeout as delay } from 'node:timers/promises'
import { isLocked, isPassing } from './database-errors.ts'
import { lockPauseMs } from './locked-retry.ts'
import { HeldElsewhere, OutcomeUnknown, Overloaded } from './overloaded.ts'
import { timeouts } from './timeouts.ts'

/**
 * More at once would wait for each other's locks: with six, 100 launches on one coupon starved those of another
 * process.
 */
const width = 2
const maxWaitingInLane = 1_000
const maxWaiting = 2_000

interface Waiting {
  enter: () => void
  refuse: (error: Overloaded) => void
  timer: NodeJS.Timeout
}

interface Lane {
  running: number
  /** When the database last answered one of them, or the first one began. */
  movedAtMs: number
  waiting: Waiting[]
  /**
   * Set while another transaction holds the lock that the lane needs. One of the running calls retries, and the
   * others wait for it.
   */
  locked: { tries: number; isTried: boolean; waiting: Waiting[] } | undefined
}

/** `isFirst`: no lock is known to be held. */
type Work<T> = (isFirst: boolean) => Promise<T>

/** Whether the database answered although the work failed: what the caller asked for is refused, or was done before. */
function isAnswered(error: unknown): boolean {
  return !(error instanceof Overloaded || error instanceof OutcomeUnknown || isPassing(error))
}

/**
 * Separates the work on one thing (a collection, a session) from all other work: only a few calls run at once, and
 * the others wait here and not on connections. So a row that is locked for long occupies few connections, however
 * many callers want it.
 */
export class Lanes {
  readonly #lanes = new Map<string, Lane>()
  #waiting = 0

  async run<T>(key: string, work: Work<T>): Promise<T> {
    const lane = this.#lanes.get(key) ?? { running: 0, movedAtMs: performance.now(), waiting: [], locked: undefined }
    this.#lanes.set(key, lane)
    // A call that ends passes its place to the next, so the number of running calls stays the same.
    if (lane.running < width) lane.running++
    else if (performance.now() - lane.movedAtMs > timeouts.stalledMs) throw new Overloaded('those before it are not answered')
    else await this.#wait(lane.waiting, timeouts.laneMs)
    try {
      const result = await this.#untilFree(lane, work)
      lane.movedAtMs = performance.now()
      return result
    } catch (error) {
      if (isAnswered(error)) lane.movedAtMs = performance.now()
      throw error
    } finally {
      if (!this.#wake(lane.waiting) && --lane.running === 0) this.#lanes.delete(key)
    }
  }

  async #untilFree<T>(lane: Lane, work: Work<T>): Promise<T> {
    const untilMs = performance.now() + timeouts.lockedMs
    while (lane.locked?.isTried) await this.#wait(lane.locked.waiting, untilMs - performance.now())
    if (lane.locked) return this.#tryAgain(lane, lane.locked, work, untilMs)
    try {
      return await work(true)
    } catch (error) {
      if (!isLocked(error)) throw error
      lane.locked ??= { tries: 0, isTried: false, waiting: [] }
      return this.#untilFree(lane, work)
    }
  }

  async #tryAgain<T>(lane: Lane, locked: NonNullable<Lane['locked']>, work: Work<T>, untilMs: number): Promise<T> {
    locked.isTried = true
    try {
      for (;;) {
        const pauseMs = lockPauseMs(locked.tries++)
        if (performance.now() + pauseMs > untilMs) throw new HeldElsewhere()
        await delay(pauseMs)
        try {
          const result = await work(false)
          lane.locked = undefined
          return result
        } catch (error) {
          if (isLocked(error)) continue
          // It ended in another way: as far as is known, the lock is free.
          lane.locked = undefined
          throw error
        }
      }
    } finally {
      locked.isTried = false
      // Wakes the next call that may try; all of them if there is no lock to wait for.
      while (this.#wake(locked.waiting) && lane.locked === undefined);
    }
  }

  #wake(queue: Waiting[]): boolean {
    const next = queue.shift()
    if (!next) return false
    this.#waiting--
    clearTimeout(next.timer)
    next.enter()
    return true
  }

  #wait(queue: Waiting[], waitMs: number): Promise<void> {
    if (queue.length >= maxWaitingInLane || this.#waiting >= maxWaiting)
      return Promise.reject(new Overloaded('too many wait for the same row'))
    this.#waiting++
    return new Promise((enter, refuse) => {
      const timer = setTimeout(() => {
        queue.splice(queue.indexOf(waiting), 1)
        this.#waiting--
        refuse(new HeldElsewhere())
      }, waitMs)
      const waiting = { enter, refuse, timer }
      queue.push(waiting)
    })
  }
}
