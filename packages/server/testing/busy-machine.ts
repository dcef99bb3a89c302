// For tests of how long something takes. A busy machine delays any single run by up to some seconds, so none of them
// decides whether a test passes.
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'

/** Between tries, so that not all of them are in the same busy second. */
const pauseMs = 300

/**
 * The least time that `run` takes, or what follows its call of `begin`. A busy machine delays some runs, a fault delays
 * all. Ends with a run below `enoughMs`.
 */
export async function leastMs(enoughMs: number, run: (begin: () => void) => Promise<unknown>, tries = 7): Promise<number> {
  let least = Infinity
  for (let n = 0; n < tries && least >= enoughMs; n++) {
    if (n > 0) await delay(n * pauseMs)
    let startedAt = performance.now()
    await run(() => (startedAt = performance.now()))
    least = Math.min(least, performance.now() - startedAt)
  }
  return least
}

/** What at least half of the measurements do not exceed. */
export function medianOf(measured: number[]): number {
  return measured.toSorted((a, b) => a - b)[Math.floor((measured.length - 1) / 2)] ?? Infinity
}

/** Tries until one attempt passes. A fault is in each of them. Rejects with the error of the last one. */
export async function passesOnce<T>(attempt: (n: number) => Promise<T>, tries = 4): Promise<T> {
  for (let n = 1; ; n++) {
    try {
      return await attempt(n)
    } catch (error) {
      if (n === tries) throw error
      await delay(n * pauseMs)
    }
  }
}

/**
 * Measures waits of this process, in milliseconds, by a clock that stands still while the machine runs something else: a
 * turn of the event loop counts for twice the time between two ticks at most.
 */
export function startLoopClock(t: TestContext): () => number {
  const tickMs = 5
  let passedMs = 0
  let last = performance.now()
  const look = () => {
    const now = performance.now()
    passedMs += Math.min(now - last, 2 * tickMs)
    last = now
    return passedMs
  }
  const timer = setInterval(look, tickMs)
  t.after(() => clearInterval(timer))
  return look
}
