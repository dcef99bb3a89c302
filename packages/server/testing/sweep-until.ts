import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Context } from '#features/context.ts'
import { eventually } from './session-world.ts'

/** Makes the timers of a sweeper that the test starts stand still, but for sweepUntil. */
export function holdSweeps(t: TestContext): void {
  t.mock.timers.enable({ apis: ['setInterval'] })
}

/** Ends sessions, holds and coupons again and again, without the five seconds in between, until that is so. */
export async function sweepUntil(t: TestContext, { db }: Context, isDone: () => Promise<boolean>, what: string): Promise<void> {
  const sweep = async () => {
    if (await isDone()) return true
    await db.pool.query(`update sweep_leases set ran_at = null where name = 'sessions, holds and coupons whose time is up'`)
    t.mock.timers.tick(5_000)
    await delay(200)
    return false
  }
  await eventually(sweep, what, 60_000)
}
