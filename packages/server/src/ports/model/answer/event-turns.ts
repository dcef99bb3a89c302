import { setImmediate as nextTurn } from 'node:timers/promises'

let last: Promise<unknown> = Promise.resolve()

/**
 * Waits for a turn of the event loop of one's own. Whoever passes on a stranger's bytes takes one for each small piece: what a library does
 * with a piece then runs between other sessions' work, however many streams come as fast as they can. Without it, a stream that is already
 * here is read in microtasks alone, and no timer fires before its end.
 */
export function takeTurn(): Promise<void> {
  const turn = last.then(() => nextTurn())
  last = turn
  return turn
}
