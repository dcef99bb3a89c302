import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { Slots } from './slots.ts'

const busy = () => new Error('busy')
const limits = { slots: 2, waiting: 2, waitMs: 10_000, busy }

/** Work that ends when it is told to. */
function open() {
  const { promise, resolve } = Promise.withResolvers<string>()
  return { work: () => promise, end: resolve }
}

test('so much runs at once, the rest in its order, and heavy work alone', async () => {
  const slots = new Slots(limits)
  const began: string[] = []
  const first = open()
  const second = open()
  const run = (name: string, weight: number, { work }: ReturnType<typeof open>) =>
    slots.run(weight, () => {
      began.push(name)
      return work()
    })
  const heavy = open()
  const running = [run('first', 1, first), run('heavy', 2, heavy), run('second', 1, second)]
  await delay(0)
  assert.deepEqual(began, ['first'], 'light work does not overtake the heavy')
  first.end('a')
  await running[0]
  await delay(0)
  assert.deepEqual(began, ['first', 'heavy'])
  heavy.end('b')
  await running[1]
  second.end('c')
  assert.deepEqual(await Promise.all(running), ['a', 'b', 'c'])
})

test('behind too many, or after too long, one is told so, and takes no slot with it', async () => {
  const slots = new Slots({ ...limits, waitMs: 30 })
  const first = open()
  const running = slots.run(2, first.work)
  const waiting = [slots.run(2, async () => 'late'), slots.run(1, async () => 'late')]
  await assert.rejects(
    slots.run(1, async () => 'late'),
    { message: 'busy' },
  )
  for (const one of waiting) await assert.rejects(one, { message: 'busy' })
  first.end('done')
  await running
  assert.equal(await slots.run(2, async () => 'free'), 'free')
})

test('work that fails gives its slot back', async () => {
  const slots = new Slots(limits)
  await assert.rejects(slots.run(2, () => Promise.reject(new Error('broken'))))
  assert.equal(await slots.run(2, async () => 'free'), 'free')
})
