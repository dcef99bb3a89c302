// For tests of how long something takes. A busy machine delays any single run by up to some seconds, so none of them
// decides whether a test passes.
import type { TestContext } from 'node:test'

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
