import { longestWaitMs } from '@atrium/room-client/retry'

const FIRST_MS = 500
const LONGEST_MS = 20_000

/**
 * The delay before the next attempt. It doubles and has a random part, so that clients do not all return at once when
 * the service recovers.
 */
export function backoffMs(failures: number, random = Math.random()): number {
  const ms = Math.min(FIRST_MS * 2 ** Math.max(failures - 1, 0), LONGEST_MS)
  return ms * (0.75 + random / 2)
}

/**
 * Sleeps that an event can end early: the network is back, the page becomes visible, the visitor presses the button.
 */
export class Naps {
  #wake: (() => void) | undefined

  async nap(ms: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, Math.min(ms, longestWaitMs))
    signal.addEventListener('abort', () => resolve(), { once: true })
    this.#wake = resolve
    await promise
    clearTimeout(timer)
  }

  wake(): void {
    this.#wake?.()
  }
}
