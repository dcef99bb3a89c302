import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'

const maxRestMs = 20

let last: Promise<unknown> = Promise.resolve()

/**
 * Waits for a turn of the event loop of one's own. Whoever passes on a stranger's bytes takes one for each small piece: what a library does
 * with a piece then runs between other sessions' work, however many streams come as fast as they can. Without it, a stream that is already
 * here is read in microtasks alone, and no timer fires before its end.
 */
export function takeTurn(): Promise<void> {
  const turn = last.then(rest)
  last = turn
  return turn
}

/** As long as the piece before took: at least half of the time is for everything else. */
async function rest(): Promise<void> {
  const since = performance.now()
  await nextTurn()
  const tookMs = performance.now() - since
  if (tookMs > 1) await delay(Math.min(tookMs, maxRestMs))
}
