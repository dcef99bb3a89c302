import { setTimeout as delay } from 'node:timers/promises'
import { isLocked } from './database-errors.ts'
import { timeouts } from './timeouts.ts'

/**
 * The pause before the nth attempt on a locked row: short at first, because most locks are short, and partly random,
 * so that waiting calls do not retry together.
 */
export function lockPauseMs(tries: number): number {
  const most = Math.min(5 * 2 ** tries, 500)
  return most / 2 + Math.random() * (most / 2)
}

/**
 * Retries until the needed locks are free. Between two attempts it waits without a connection: a row that is locked
 * for long must not take connections from callers that need other rows. `run` receives the number of the attempt,
 * from 0.
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
