import { takeTurn } from '../answer/event-turns.ts'

/**
 * Runs what checks a tenant's own rules one after the other, each in a turn of the event loop of its own: however many sessions ask at once,
 * leases are renewed and answers read in between.
 */
export async function inTurn<T>(check: () => T): Promise<T> {
  await takeTurn()
  return check()
}
