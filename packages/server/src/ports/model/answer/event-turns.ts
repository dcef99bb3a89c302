import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'

const maxRestMs = 20

let last: Promise<unknown> = Promise.resolve()

/**
 * Waits for a separate turn of the event loop. Code that passes on untrusted bytes calls this for each small chunk, so
 * that the work of a library is interleaved with other sessions, however fast streams arrive. Without it, buffered
 * data is read in microtasks only, and no timer fires before its end.
 */
export function takeTurn(): Promise<void> {
  const turn = last.then(rest)
  last = turn
  return turn
}

/** Waits as long as the previous piece took, so that at least half of the time is left for other work. */
async function rest(): Promise<void> {
  const since = performance.now()
  await nextTurn()
  const tookMs = performance.now() - since
  if (tookMs > 1) await delay(Math.min(tookMs, maxRestMs))
}
