import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { FairSemaphore } from './fair-semaphore.ts'

const busy = () => new Error('busy')
const limits = { permits: 2, permitsPerTenant: 2, maxWaiting: 4, maxWaitingPerTenant: 3, timeoutMs: 10_000, busy }

/** Work that ends on demand. */
function open() {
  const { promise, resolve } = Promise.withResolvers<string>()
  return { work: () => promise, end: resolve }
}

/** Work of several tenants, by the order in which it begins. */
function watch(semaphore: FairSemaphore) {
  const began: string[] = []
  const works = new Map<string, ReturnType<typeof open>>()
  const run = (name: string, weight = 1) => {
    const one = open()
    works.set(name, one)
    const begin = () => {
      began.push(name)
      return one.work()
    }
    return semaphore.run(name.replace(/\d+$/, ''), weight, begin)
  }
  const end = async (name: string) => {
    works.get(name)!.end(name)
    await nextTurn()
  }
  return { began, run, end }
}

test('the permits limit concurrent work, a tenant’s work keeps its order, and heavy work runs alone', async () => {
  const { began, run, end } = watch(new FairSemaphore(limits))
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
  const { began, run, end } = watch(new FairSemaphore({ ...limits, maxWaiting: 10, maxWaitingPerTenant: 10 }))
  const all = ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2', 'c1']
  const running = all.map((name) => run(name))
  await nextTurn()
  for (const name of ['a1', 'b1', 'a2', 'c1', 'b2', 'a3', 'a4', 'a5']) await end(name)
  assert.deepEqual(began, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4', 'a5'])
  await Promise.all(running)
})

test('a tenant holds no more than its permits, and heavier work still runs', async () => {
  const { began, run, end } = watch(new FairSemaphore({ ...limits, permits: 3, permitsPerTenant: 1 }))
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

test('work is rejected without a permit if too much is waiting, in total or of its tenant, or for too long', async () => {
  const semaphore = new FairSemaphore({ ...limits, timeoutMs: 30 })
  const first = open()
  const running = semaphore.run('a', 2, first.work)
  const late = (tenant: string, weight = 1) => semaphore.run(tenant, weight, async () => 'late')
  const waiting = [late('a', 2), late('a'), late('a')]
  await assert.rejects(late('a'), { message: 'busy' }, 'three of its own wait')
  waiting.push(late('b'))
  await assert.rejects(late('c'), { message: 'busy' }, 'four wait')
  for (const one of waiting) await assert.rejects(one, { message: 'busy' })
  first.end('done')
  await running
  assert.equal(await semaphore.run('a', 2, async () => 'free'), 'free')
})

test('work that fails releases its permit', async () => {
  const semaphore = new FairSemaphore(limits)
  await assert.rejects(semaphore.run('a', 2, () => Promise.reject(new Error('broken'))))
  assert.equal(await semaphore.run('b', 2, async () => 'free'), 'free')
})
