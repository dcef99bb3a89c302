import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LeaseCounter } from '@atrium/traffic/lease-counter'
import type { RateCheck } from '@atrium/traffic/gcra'
import { MemoryRateLimiter } from '@atrium/traffic/memory-rate-limiter'
import { startLoopClock } from '#testing/busy-machine.ts'
import { answerLeases } from './answer-leases.ts'
import { GuardedRateLimiter } from './guarded-rate-limiter.ts'
import { PrimaryCounter } from './primary-counter.ts'
import type { LeaseAsk } from './primary-messages.ts'

const policy = { name: 'test', perSecond: 50, burst: 100 }
const check: RateCheck = { key: 'a', policy }

/** Several workers of one primary process; the time stands still unless it is moved. */
function makeWorkers(count: number, { silent = false } = {}) {
  const state = { now: 1_000, messages: 0, silent }
  const now = () => state.now
  const counter = new LeaseCounter({ now })
  const workers = Array.from({ length: count }, () => {
    let handle: (message: unknown) => void = () => undefined
    const send = (message: LeaseAsk) => {
      state.messages++
      const text = JSON.stringify(message)
      setImmediate(() => {
        if (!state.silent) handle(JSON.parse(JSON.stringify(answerLeases(counter, JSON.parse(text) as LeaseAsk))))
      })
    }
    const onAnswer = (handler: (message: unknown) => void) => {
      handle = handler
      return () => undefined
    }
    return new PrimaryCounter({ send, onAnswer }, now)
  })
  return { state, workers: workers as [PrimaryCounter, PrimaryCounter], close: () => workers.forEach((worker) => worker.close()) }
}

async function allowed(take: () => unknown, times: number): Promise<number> {
  let passed = 0
  for (let i = 0; i < times; i++) if (((await take()) as { allowed: boolean }).allowed) passed++
  return passed
}

test('several workers together let the burst pass and not one more, then the steady rate', async (t) => {
  const { state, workers, close } = makeWorkers(4)
  t.after(close)
  const volley = async (each: number) =>
    (await Promise.all(workers.map((worker) => allowed(() => worker.take([check]), each)))).reduce((sum, one) => sum + one, 0)
  const first = await volley(100)
  assert.equal(first, 100)
  let sum = 0
  for (let second = 0; second < 10; second++) {
    state.now += 1_000
    sum += await volley(100)
  }
  // What a worker asked for ahead and did not use is back within the next second.
  assert.ok(sum <= 500 && sum >= 470, `${sum} of 500`)
})

test('what one worker asked for ahead and does not use goes back to the others', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { state, workers, close } = makeWorkers(2)
  t.after(close)
  const [one, two] = workers
  assert.equal(await allowed(() => one.take([check]), 60), 60)
  state.now += 100
  t.mock.timers.tick(100)
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  // 40 of the burst and the 5 of a tenth of a second.
  assert.equal(await allowed(() => two.take([check]), 100), 45)
})

test('a key that is used all the time costs far less than a message a request, a refused one next to none', async (t) => {
  const { state, workers, close } = makeWorkers(2)
  t.after(close)
  const [one] = workers
  assert.equal(await allowed(() => one.take([check]), 100), 100)
  assert.ok(state.messages < 30, `${state.messages} messages for 100 requests`)
  state.messages = 0
  assert.equal(await allowed(() => one.take([check]), 1_000), 0)
  assert.ok(state.messages <= 2, `${state.messages} messages for 1,000 refusals`)
})

test('a decision tells what is left and when to come back', async (t) => {
  const { workers, close } = makeWorkers(2)
  t.after(close)
  const [one, two] = workers
  const first = await one.take([check])
  assert.deepEqual([first.allowed, first.remaining, first.policy], [true, 99, policy])
  await allowed(() => two.take([check]), 200)
  const refused = await one.take([check])
  assert.deepEqual([refused.allowed, refused.remaining], [false, 0])
  assert.ok(refused.resetMs > 0 && refused.resetMs <= 20, String(refused.resetMs))
})

test('a request that one limit refuses is given back to the other', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { state, workers, close } = makeWorkers(2)
  t.after(close)
  const [one, two] = workers
  const narrow: RateCheck = { key: 'narrow', policy: { name: 'narrow', perSecond: 1, burst: 1 } }
  assert.equal((await one.take([check, narrow])).allowed, true)
  for (let i = 0; i < 20; i++) assert.equal((await one.take([check, narrow])).policy, narrow.policy)
  state.now += 100
  t.mock.timers.tick(100)
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  assert.ok((await two.take([check])).remaining >= 98)
})

test('while the primary process does not answer a worker counts by itself, after a few waits without waiting', async (t) => {
  const { state, workers, close } = makeWorkers(1, { silent: true })
  t.after(close)
  const limiter = new GuardedRateLimiter(workers[0], new MemoryRateLimiter())
  const now = startLoopClock(t)
  const startedAt = now()
  assert.ok((await allowed(() => limiter.take([check]), 300)) >= 100)
  assert.ok(now() - startedAt < 1_500, 'five waits of 100 ms, and no more')
  assert.equal(workers[0].usable, false)
  state.silent = false
  for (let waitedMs = 0; !workers[0].usable; waitedMs += 10) {
    assert.ok(waitedMs < 5_000, 'it is found again')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
})

test('a new policy of a key holds at once: it grants and refuses at the new rate', async (t) => {
  const { state, workers, close } = makeWorkers(1)
  t.after(close)
  const under = (perSecond: number, burst: number) => () =>
    workers[0].take([{ key: 'a', policy: { name: 'test', perSecond, burst } }])
  assert.equal(await allowed(under(5, 10), 20), 10)
  // Half of the time that a burst takes: half of a burst is free again.
  state.now += 1_000
  assert.equal(await allowed(under(500, 1_000), 900), 500)
  assert.ok((await allowed(under(5, 10), 20)) <= 10)
})
