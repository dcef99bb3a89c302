import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { passesOnce } from '#testing/busy-machine.ts'
import { Registry } from '#libraries/prom-client.js'
import { LoopDelay } from './loop-delay.ts'
import { watchLoop } from './loop-metrics.ts'
import { mergeFamilies, readFamilies } from './metric-families.ts'

test('a loop that is blocked often is late; one at rest is not, and is not woken to find that out', async (t) => {
  const loop = new LoopDelay(10)
  t.after(() => loop.stop())
  await blockOften()
  const busy = loop.take()
  assert.ok(busy.max >= 0.06 && busy.p99 >= 0.06 && busy.p50 >= 0.05, JSON.stringify(busy))
  assert.ok(busy.min <= busy.mean && busy.mean <= busy.max, JSON.stringify(busy))

  // Until the second that was busy in part is over.
  await delay(2_200)
  // A busy machine also makes a loop late that has next to nothing to do.
  await passesOnce(async () => {
    loop.take()
    const before = turns()
    await delay(2_000)
    const woken = turns() - before
    assert.ok(woken < 100, `200 samples are not taken: ${woken} turns`)
    const rest = loop.take()
    assert.ok(rest.min > 0 && rest.p99 < 0.02 && rest.mean < 0.02 && rest.max < 0.02, JSON.stringify(rest))
  }, 10)

  // The loop is sampled again from the next look on.
  await passesOnce(async () => {
    await delay(2_000)
    await blockOften()
    const { p50, p99, max } = loop.take()
    assert.ok(p50 < 0.02, `most of the time it was idle: ${p50}`)
    assert.ok(p99 >= 0.05 && max >= 0.06, `it was late then: ${p99}`)
  }, 10)
})

test('of several processes of a role, the 99th percentile shows the one that is late', async () => {
  const registry = new Registry()
  watchLoop(registry, 10)
  const name = 'nodejs_eventloop_lag_p99_seconds'
  const families = await readFamilies(registry, 'api')
  const late = (seconds: number) =>
    families.map((one) => (one.name === name ? { ...one, values: one.values.map((two) => ({ ...two, value: seconds })) } : one))
  const merged = mergeFamilies([late(0.01), late(0.9), late(0.02)])
  assert.deepEqual(
    merged.find((one) => one.name === name)?.values.map(({ value }) => value),
    [0.9],
  )
})

async function blockOften(): Promise<void> {
  for (let i = 0; i < 20; i++) {
    const endMs = performance.now() + 60
    while (performance.now() < endMs);
    await delay(1)
  }
}

function turns(): number {
  return performance.nodeTiming.uvMetricsInfo.loopCount
}
