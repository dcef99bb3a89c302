import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Slots } from './slots.ts'

const busy = () => new Error('busy')
const limits = { slots: 2, perTenant: 2, waiting: 4, waitingPerTenant: 3, waitMs: 10_000, busy }

/** Work that ends when it is told to. */
function open() {
  const { promise, resolve } = Promise.withResolvers<string>()
  return { work: () => promise, end: resolve }
}

/** Work of several tenants, by the order in which it begins. */
function watch(slots: Slots) {
  const began: string[] = []
  const works = new Map<string, ReturnType<typeof open>>()
  const run = (name: string, weight = 1) => {
    const one = open()
    works.set(name, one)
    const begin = () => {
      began.push(name)
      return one.work()
    }
    return slots.run(name.replace(/\d+$/, ''), weight, begin)
  }
  const end = async (name: string) => {
    works.get(name)!.end(name)
    await nextTurn()
  }
  return { began, run, end }
}

test('so much runs at once, the rest of a tenant in its order, and heavy work alone', async () => {
  const { began, run, end } = watch(new Slots(limits))
  const running = [run('a1'), run('a2', 2), run('a3')]
  await nextTurn()
  assert.deepEqual(began, ['a1'], 'light work does not overtake the heavy')
  await end('a1')
  assert.deepEqual(began, ['a1', 'a2'])
  await end('a2')
  await end('a3')
  assert.deepEqual(await Promise.all(running), ['a1', 'a2', 'a3'])
})

test('the many of one tenant wait behind one another, not before the few of another', async () => {
  const { began, run, end } = watch(new Slots({ ...limits, waiting: 10, waitingPerTenant: 10 }))
  const all = ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2', 'c1']
  const running = all.map((name) => run(name))
  await nextTurn()
  for (const name of ['a1', 'b1', 'a2', 'c1', 'b2', 'a3', 'a4', 'a5']) await end(name)
  assert.deepEqual(began, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4', 'a5'])
  await Promise.all(running)
})

test('a tenant holds so many slots and no more, and what is heavier than that still has its turn', async () => {
  const { began, run, end } = watch(new Slots({ ...limits, slots: 3, perTenant: 1 }))
  const running = [run('a1'), run('a2', 2), run('b1'), run('c1')]
  await nextTurn()
  assert.deepEqual(began, ['a1', 'b1', 'c1'])
  await end('a1')
  assert.deepEqual(began, ['a1', 'b1', 'c1'], 'it needs two')
  await end('b1')
  assert.deepEqual(began, ['a1', 'b1', 'c1', 'a2'])
  await end('a2')
  await end('c1')
  await Promise.all(running)
})

test('behind too many, or too many of its own, or after too long, one is told so, and takes no slot with it', async () => {
  const slots = new Slots({ ...limits, waitMs: 30 })
  const first = open()
  const running = slots.run('a', 2, first.work)
  const late = (tenant: string, weight = 1) => slots.run(tenant, weight, async () => 'late')
  const waiting = [late('a', 2), late('a'), late('a')]
  await assert.rejects(late('a'), { message: 'busy' }, 'three of its own wait')
  waiting.push(late('b'))
  await assert.rejects(late('c'), { message: 'busy' }, 'four wait')
  for (const one of waiting) await assert.rejects(one, { message: 'busy' })
  first.end('done')
  await running
  assert.equal(await slots.run('a', 2, async () => 'free'), 'free')
})

test('work that fails gives its slot back', async () => {
  const slots = new Slots(limits)
  await assert.rejects(slots.run('a', 2, () => Promise.reject(new Error('broken'))))
  assert.equal(await slots.run('b', 2, async () => 'free'), 'free')
})
