import { longestWaitMs } from '@atrium/room-client/retry'

const FIRST_MS = 500
const LONGEST_MS = 20_000

/**
 * How long to wait before the next try: doubling, with a spread, so that a service that comes back is not met by
 * everyone at once.
 */
export function backoffMs(failures: number, random = Math.random()): number {
  const ms = Math.min(FIRST_MS * 2 ** Math.max(failures - 1, 0), LONGEST_MS)
  return ms * (0.75 + random / 2)
}

/**
 * Sleeps that something outside can end: the network is back, the page is looked at again, someone pressed the button.
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
