import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Backoff } from './backoff.ts'

function make(random = () => 1) {
  let now = 0
  const backoff = new Backoff({ firstMs: 100, maxMs: 1_000, healthyMs: 5_000, now: () => now, random })
  return { backoff, pass: (ms: number) => (now += ms) }
}

test('waits double up to the longest and stay there', () => {
  const { backoff } = make()
  assert.deepEqual(
    Array.from({ length: 6 }, () => backoff.failed()),
    [100, 200, 400, 800, 1_000, 1_000],
  )
  assert.equal(backoff.failures, 6)
})

test('between half a wait and a whole one is random', () => {
  assert.equal(make(() => 0).backoff.failed(), 50)
  assert.equal(make(() => 0.5).backoff.failed(), 75)
})

test('a success that lasts begins anew, one that does not goes on', () => {
  const { backoff, pass } = make()
  backoff.failed()
  backoff.failed()
  backoff.succeeded()
  pass(4_999)
  assert.equal(backoff.failed(), 400)
  backoff.succeeded()
  pass(5_000)
  assert.equal(backoff.failed(), 100)
  pass(60_000)
  assert.equal(backoff.failed(), 200, 'a long wait without a success is not health')
})
