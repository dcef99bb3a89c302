import { test } from 'node:test'
import assert from 'node:assert/strict'
import { maxTries, retryAfterMs } from './retry-schedule.ts'

const hour = 60 * 60_000

test('there are ten tries, over 75 hours, each later than the one before', () => {
  assert.equal(maxTries, 10)
  const waits = Array.from({ length: maxTries - 1 }, (_, i) => retryAfterMs(i + 1, 0.5)!)
  assert.equal(Math.floor(waits.reduce((sum, wait) => sum + wait) / hour), 75)
  assert.deepEqual(
    waits.toSorted((a, b) => a - b),
    waits,
  )
  assert.equal(retryAfterMs(maxTries), undefined)
})

test('waits are spread by a tenth to either side', () => {
  assert.deepEqual(
    [0, 0.5, 1].map((random) => retryAfterMs(1, random)),
    [4_500, 5_000, 5_500],
  )
})
