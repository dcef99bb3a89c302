import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { readFamilies, type MetricFamily } from '#http/metric-families.ts'
import { MetricsHub } from './metrics-hub.ts'

/** A process that answers with what it has counted, and answers nothing while it is silent. */
class FakeProcess {
  readonly #registers = [new Registry()]
  readonly #counter = new Counter({ name: 'asked_total', help: 'Asked', registers: this.#registers })
  readonly #time = new Histogram({ name: 'time_seconds', help: 'Time', buckets: [0.1, 1], registers: this.#registers })
  readonly #size = new Gauge({ name: 'size_bytes', help: 'Size', registers: this.#registers })
  silent = false
  readonly #spent = new Counter({ name: 'spent_seconds_total', help: 'Spent', labelNames: ['by'], registers: this.#registers })
  /** Called between the answer of the process and its arrival. */
  onAnswer: () => void = () => undefined

  count(seconds: number): this {
    this.#counter.inc()
    this.#time.observe(seconds)
    this.#size.set(5)
    return this
  }

  spend(by: string, seconds: number): void {
    this.#spent.inc({ by }, seconds)
  }

  async ask(): Promise<MetricFamily[] | undefined> {
    if (this.silent) return undefined
    const families = await readFamilies(this.#registers[0]!, 'api')
    this.onAnswer()
    return families
  }
}

/** The counter, the parts of the histogram and the gauge on the page. */
async function pageOf(hub: MetricsHub) {
  const families = await hub.collect()
  const value = (name: string, part = '', le?: string | number) =>
    families
      .find((one) => one.name === name)
      ?.values.find(({ metricName, labels }) => (metricName ?? name) === name + part && labels['le'] === le)?.value
  return {
    asked: value('asked_total'),
    time: [value('time_seconds', '_bucket', 0.1), value('time_seconds', '_bucket', 1), value('time_seconds', '_bucket', '+Inf')],
    sum: value('time_seconds', '_sum'),
    count: value('time_seconds', '_count'),
    size: value('size_bytes'),
  }
}

test('a silent process counts with its last answer, and its gauges do not', async () => {
  const hub = new MetricsHub()
  const one = new FakeProcess().count(0.5)
  const other = new FakeProcess().count(0.05).count(2)
  hub.add(() => one)
  hub.add(() => other)
  const all = { asked: 3, time: [1, 2, 3], sum: 2.55, count: 3, size: 10 }
  assert.deepEqual(await pageOf(hub), all)
  other.silent = true
  other.count(0.5)
  assert.deepEqual(await pageOf(hub), { ...all, size: 5 })
  other.silent = false
  assert.deepEqual(await pageOf(hub), { asked: 4, time: [1, 3, 4], sum: 3.05, count: 4, size: 10 })
})

test('a process that ended counts for ever, once, beside those that replace it in its place', async () => {
  const hub = new MetricsHub()
  let running: FakeProcess | undefined = new FakeProcess().count(0.5).count(0.5)
  hub.add(() => running)
  const asked = async () => (await pageOf(hub)).asked
  assert.equal(await asked(), 2)
  running = undefined
  assert.equal(await asked(), 2)
  running = new FakeProcess()
  running.silent = true
  assert.equal(await asked(), 2)
  running.silent = false
  assert.equal(await asked(), 2)
  running.count(0.05)
  assert.deepEqual(await pageOf(hub), { asked: 3, time: [1, 3, 3], sum: 1.05, count: 3, size: 5 })
  assert.equal(await asked(), 3)
  for (let more = 1; more <= 3; more++) {
    running = new FakeProcess().count(0.5)
    assert.equal(await asked(), 3 + more)
  }
})

test('an answer that arrives after the process was removed is not counted twice', async () => {
  const hub = new MetricsHub()
  const process = new FakeProcess().count(0.5)
  const remove = hub.add(() => process)
  assert.equal((await pageOf(hub)).asked, 1)
  process.count(0.5)
  process.onAnswer = remove
  assert.equal((await pageOf(hub)).asked, 1)
  hub.add(() => new FakeProcess().count(0.5))
  assert.equal((await pageOf(hub)).asked, 2)
})

test('no series falls by a last digit when a process ends, whose seconds are added in another order from then on', async () => {
  // Random, and the same each time (Park and Miller).
  let seed = 20_261_128
  const seconds = () => (seed = (seed * 48_271) % 2_147_483_647) / 1e8
  const hub = new MetricsHub()
  const labels = Array.from({ length: 100 }, (_, n) => `user ${n}`)
  const processes = Array.from({ length: 4 }, () => {
    const process = new FakeProcess()
    for (const by of labels) process.spend(by, seconds())
    return { process, remove: hub.add(() => process) }
  })
  const spent = async () => {
    const family = (await hub.collect()).find(({ name }) => name === 'spent_seconds_total')
    return new Map(family?.values.map(({ labels: { by }, value }) => [by, value]))
  }
  const before = await spent()
  processes[2]!.remove()
  const after = await spent()
  assert.deepEqual(
    labels.filter((by) => !(after.get(by)! >= before.get(by)!)),
    [],
  )
  assert.equal(before.size, 100)
  for (const by of labels) processes[0]!.process.spend(by, 1)
  const more = await spent()
  for (const by of labels) assert.ok(Math.abs(more.get(by)! - after.get(by)! - 1) < 1e-9, 'and each goes on from there')
})
