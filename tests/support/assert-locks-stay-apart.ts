import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openLockWorld, p99, works } from './lock-world.ts'

/** Tests with rows of one tenant and of twenty that are locked for so long. */
export function testLockedRows({ quietMs, lockedMs }: { quietMs: number; lockedMs: number }): void {
  for (const [tenants, named] of [
    [1, 'one tenant'],
    [20, 'twenty tenants'],
  ] as const) {
    test(`while the rows of ${named} are locked, all that another tenant does is as quick as without`, async (t) => {
      const world = await openLockWorld(tenants)
      t.after(() => world.close())
      const quiet = await world.measure(quietMs, false)
      const locked = await world.measure(lockedMs, true)
      const compared = works.map((work) => ({ work, without: p99(quiet.times[work]), under: p99(locked.times[work]) }))
      for (const { work, without, under } of compared)
        t.diagnostic(`${work}: p99 ${without.toFixed(1)} ms without the lock, ${under.toFixed(1)} ms with it`)
      for (const { work, without, under } of compared) assert.ok(under <= Math.max(50, 2 * without), `${work} waited`)

      const worst = Math.max(...locked.answers.map(({ tookMs }) => tookMs))
      assert.ok(worst < 10_000, `those whose rows are locked waited for ${Math.round(worst)} ms`)
      const others = locked.answers.filter(({ status, retryAfter }) => status !== 503 || Number(retryAfter) < 1)
      assert.deepEqual(others, [], 'and are told to come back')
      assert.ok(locked.answers.length > 100)
    })
  }
}
