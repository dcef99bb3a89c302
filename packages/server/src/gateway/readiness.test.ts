import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Readiness } from './readiness.ts'

function setUp() {
  const state = { now: 0, checks: 0, fault: undefined as Error | undefined, hold: undefined as Promise<void> | undefined }
  const readiness = new Readiness(
    async () => {
      state.checks++
      await state.hold
      if (state.fault) throw state.fault
    },
    () => state.now,
  )
  return { state, readiness }
}

test('a thousand health checks at once are one check, and so are all within a second', async () => {
  const { state, readiness } = setUp()
  await Promise.all(Array.from({ length: 1_000 }, () => readiness.assert()))
  state.now = 999
  await readiness.assert()
  assert.equal(state.checks, 1)
  state.now = 1_000
  await readiness.assert()
  assert.equal(state.checks, 2)
})

test('every concurrent caller gets the failure, which is cached for at most a second', async () => {
  const { state, readiness } = setUp()
  state.fault = new Error('away')
  for (const outcome of await Promise.allSettled([readiness.assert(), readiness.assert()]))
    assert.equal(outcome.status, 'rejected')
  state.fault = undefined
  await assert.rejects(readiness.assert(), /away/)
  state.now = 1_000
  await readiness.assert()
  assert.equal(state.checks, 2)
})

test('a check that hangs fails in time, and none is begun beside it', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { state, readiness } = setUp()
  const { promise, resolve } = Promise.withResolvers<void>()
  state.hold = promise
  const asked = [readiness.assert(), readiness.assert()]
  t.mock.timers.tick(5_000)
  for (const outcome of await Promise.allSettled(asked))
    assert.match(String((outcome as PromiseRejectedResult).reason), /too long/)
  const later = readiness.assert()
  assert.equal(state.checks, 1)
  resolve()
  await later
  assert.equal(state.checks, 1)
})
