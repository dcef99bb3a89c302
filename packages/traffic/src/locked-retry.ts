import { setTimeout as delay } from 'node:timers/promises'
import { isLocked } from './database-errors.ts'
import { timeouts } from './timeouts.ts'

/** A pause before the nth try at something locked: short at first, since most locks are; not in step with others who wait for it. */
export function lockPauseMs(tries: number): number {
  const most = Math.min(5 * 2 ** tries, 500)
  return most / 2 + Math.random() * (most / 2)
}

/**
 * Tries until the locks that it needs are free. Between two tries it waits here, where waiting takes up no connection: a row that somebody
 * holds for long must not keep the connections from those who need other rows. `run` is told which try it is, from 0.
 */
export async function retryLocked<T>(run: (tries: number) => Promise<T>, lockedMs: number = timeouts.lockedMs): Promise<T> {
  let untilMs: number | undefined
  for (let tries = 0; ; tries++) {
    try {
      return await run(tries)
    } catch (error) {
      if (!isLocked(error)) throw error
      const now = performance.now()
      untilMs ??= now + lockedMs
      const pauseMs = lockPauseMs(tries)
      if (now + pauseMs > untilMs) throw error
      await delay(pauseMs)
    }
  }
}
