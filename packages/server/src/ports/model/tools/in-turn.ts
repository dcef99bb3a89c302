import { setImmediate as nextTurn } from 'node:timers/promises'

let last: Promise<unknown> = Promise.resolve()

/**
 * Runs what checks a tenant's own rules one after the other, each in a turn of the event loop of its own: however many sessions ask at once,
 * leases are renewed and answers read in between.
 */
export function inTurn<T>(check: () => T): Promise<T> {
  const done = last.then(() => nextTurn()).then(check)
  // How one ended is its own caller's business.
  last = done.catch(() => undefined)
  return done
}
