import assert from 'node:assert/strict'
import { test } from 'node:test'
import { coalesced } from './coalesced.ts'
import { makeError } from './error-of-answer.ts'

/** Work that a test answers run by run. */
function controlled() {
  const stop = new AbortController()
  const errors: unknown[] = []
  const begun: PromiseWithResolvers<void>[] = []
  const runs: PromiseWithResolvers<void>[] = []
  const at = (list: PromiseWithResolvers<void>[], n: number) => (list[n] ??= Promise.withResolvers<void>())
  let count = 0
  const work = () => {
    at(begun, count).resolve()
    return at(runs, count++).promise
  }
  return {
    call: coalesced(work, stop.signal, (error) => errors.push(error)),
    begun: (n: number) => at(begun, n).promise,
    run: (n: number) => at(runs, n),
    count: () => count,
    errors,
    stop: () => stop.abort(),
  }
}

const failure = (status: number) => makeError({ status, code: 'x', message: 'x' })

test('calls during a run lead to one further run', async () => {
  const { call, begun, run, count, stop } = controlled()
  for (let n = 0; n < 5; n++) call()
  await begun(0)
  for (let n = 0; n < 5; n++) call()
  run(0).resolve()
  await begun(1)
  run(1).resolve()
  // Longer than the pause between two runs.
  await new Promise((resolve) => setTimeout(resolve, 600))
  assert.equal(count(), 2)
  call()
  await begun(2)
  stop()
})

test('a failure is reported, and what may pass is tried again without a call', async () => {
  const { call, begun, run, errors, stop } = controlled()
  call()
  for (const [n, error] of [failure(503), failure(429)].entries()) {
    await begun(n)
    run(n).reject(error)
  }
  await begun(2)
  assert.deepEqual(
    errors.map((error) => (error as { status: number }).status),
    [503, 429],
  )
  stop()
})

test('after another failure the next call runs it again', async () => {
  const { call, begun, run, count, errors, stop } = controlled()
  call()
  await begun(0)
  run(0).reject(failure(404))
  await new Promise((resolve) => setTimeout(resolve, 600))
  assert.deepEqual([count(), errors.length], [1, 1])
  call()
  await begun(1)
  stop()
  run(1).reject(failure(503))
  await new Promise(setImmediate)
  assert.equal(errors.length, 1, 'an abort is no failure')
})
