import { takeTurn } from '../answer/event-turns.ts'

/**
 * Runs checks of tenants' schemas one after the other, each in a separate turn of the event loop. Leases are renewed
 * and answers are read in between, however many sessions run checks.
 */
export async function inTurn<T>(check: () => T): Promise<T> {
  await takeTurn()
  return check()
}
