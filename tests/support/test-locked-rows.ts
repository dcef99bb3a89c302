import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openLockWorld, p99, works, type BadAnswer, type Work } from './lock-world.ts'

/** A request that waits for a lock does so in every round; one that the machine has slowed down does not. */
const rounds = 3

/** Tests with locked rows of one tenant and of twenty, for this long. */
export function testLockedRows({ quietMs, lockedMs }: { quietMs: number; lockedMs: number }): void {
  for (const [tenants, named] of [
    [1, 'one tenant'],
    [20, 'twenty tenants'],
  ] as const) {
    test(`while the rows of ${named} are locked, all that another tenant does is as quick as without`, async (t) => {
      const world = await openLockWorld(tenants)
      t.after(() => world.close())
      const slow = new Set<Work>(works)
      for (let round = 0; round < rounds && slow.size > 0; round++) {
        const quiet = await world.measure(quietMs, false)
        const locked = await world.measure(lockedMs, true)
        for (const work of works) {
          const [without, under] = [p99(quiet.times[work]), p99(locked.times[work])]
          t.diagnostic(`${work}: p99 ${without.toFixed(1)} ms without the lock, ${under.toFixed(1)} ms with it`)
          if (under <= Math.max(50, 2 * without)) slow.delete(work)
        }
        assertToldInTime(locked.answers)
      }
      assert.deepEqual([...slow], [], 'what waited for the locks of others')
    })
  }
}

function assertToldInTime(answers: BadAnswer[]): void {
  assert.ok(answers.length > 100)
  const worst = Math.max(...answers.map(({ tookMs }) => tookMs))
  assert.ok(worst < 10_000, `those whose rows are locked waited for ${Math.round(worst)} ms`)
  const others = answers.filter(({ status, retryAfter }) => status !== 503 || Number(retryAfter) < 1)
  assert.deepEqual(others, [], 'and are told to come back')
}
