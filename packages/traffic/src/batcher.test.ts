import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { Batcher, Locked } from './batcher.ts'
import { HeldElsewhere } from './overloaded.ts'
import { timeouts } from './timeouts.ts'

test('inputs of one moment share a batch, and each gets its own outcome', async () => {
  const batches: number[][] = []
  const batcher = new Batcher<number, number>({
    maxSize: 10,
    concurrency: 1,
    run: async (inputs) => {
      batches.push(inputs)
      return inputs.map((input) => (input === 3 ? new Error('three') : input * 2))
    },
  })
  const outcomes = await Promise.allSettled([1, 2, 3, 4].map((input) => batcher.add(input)))
  assert.deepEqual(batches, [[1, 2, 3, 4]])
  assert.deepEqual(
    outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : (outcome.reason as Error).message)),
    [2, 4, 'three', 8],
  )
})

test('no more batches run at once than allowed, and what waits joins the next', async () => {
  let running = 0
  let most = 0
  const sizes: number[] = []
  const batcher = new Batcher<number, number>({
    maxSize: 100,
    concurrency: 2,
    run: async (inputs) => {
      most = Math.max(most, ++running)
      sizes.push(inputs.length)
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
      running--
      return inputs
    },
  })
  const first = batcher.add(0)
  await new Promise((resolve) => setImmediate(resolve))
  await Promise.all([first, ...Array.from({ length: 50 }, (_, i) => batcher.add(i))])
  assert.equal(most <= 2, true)
  assert.deepEqual(sizes.toSorted((a, b) => b - a)[0], 50)
})

test('the next batch begins before the answers of the last one are sent, if as many inputs wait', async () => {
  const seen: string[] = []
  const ends: (() => void)[] = []
  const batcher = new Batcher<number, number>({
    maxSize: 10,
    concurrency: 1,
    run: async (inputs) => {
      seen.push(`batch ${inputs.join(' ')}`)
      await new Promise<void>((resolve) => ends.push(resolve))
      return inputs
    },
  })
  const add = async (input: number) => void seen.push(`answer ${await batcher.add(input)}`)
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  const all = [add(1), add(2)]
  await turn()
  all.push(add(3), add(4))
  await turn()
  ends[0]!()
  await turn()
  all.push(add(5))
  ends[1]!()
  await turn()
  await turn()
  ends[2]!()
  await Promise.all(all)
  assert.deepEqual(seen, ['batch 1 2', 'batch 3 4', 'answer 1', 'answer 2', 'answer 3', 'answer 4', 'batch 5', 'answer 5'])
})

test('an input that the database rejects fails alone, not with its batch', async () => {
  const dataError = Object.assign(new Error('bad value'), { code: '22P05' })
  const batcher = new Batcher<string, string>({
    maxSize: 10,
    concurrency: 1,
    isAboutOneInput: (error) => error === dataError,
    run: async (inputs) => {
      if (inputs.includes('bad')) throw dataError
      return inputs
    },
  })
  const outcomes = await Promise.allSettled(['a', 'bad', 'b'].map((input) => batcher.add(input)))
  assert.deepEqual(
    outcomes.map((outcome) => outcome.status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
})

test('a bad input among many is found in few tries, and the order of inputs with a common key is kept', async () => {
  const done: number[] = []
  let runs = 0
  const batcher = new Batcher<number, number>({
    maxSize: 256,
    concurrency: 1,
    isAboutOneInput: () => true,
    keysOf: (input) => [String(input % 3)],
    run: async (inputs) => {
      runs++
      if (inputs.includes(100)) throw new Error('bad')
      done.push(...inputs)
      return inputs
    },
  })
  const inputs = Array.from({ length: 256 }, (_, n) => n)
  const outcomes = await Promise.allSettled(inputs.map((input) => batcher.add(input)))
  assert.deepEqual(
    inputs.filter((n) => outcomes[n]?.status === 'rejected'),
    [100],
  )
  assert.deepEqual([done, runs], [inputs.filter((n) => n !== 100), 17])
})

test('a lost connection fails the whole batch at once, without a try for each', async () => {
  let runs = 0
  const batcher = new Batcher<number, number>({
    maxSize: 10,
    concurrency: 1,
    run: async () => {
      runs++
      throw Object.assign(new Error('gone'), { code: 'ECONNRESET' })
    },
  })
  await Promise.allSettled([1, 2, 3].map((input) => batcher.add(input)))
  assert.equal(runs, 1)
})

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('while batches are not answered, or fail, an input that would wait for them is refused at once', async () => {
  let held = Promise.withResolvers<void>()
  let fails = true
  const batcher = new Batcher<number, number>({
    maxSize: 1,
    concurrency: 1,
    waitMs: 20_000,
    run: async (inputs) => {
      if (fails) throw new Error('no database')
      await held.promise
      return inputs
    },
  })
  const refused = { name: 'Overloaded', message: 'those before it are not answered' }
  await assert.rejects(batcher.add(0), { message: 'no database' })
  fails = false
  const first = batcher.add(1)
  await turn()
  await assert.rejects(batcher.add(2), refused, 'the last batch failed')
  held.resolve()
  assert.equal(await first, 1)

  held = Promise.withResolvers<void>()
  const second = batcher.add(3)
  await turn()
  const third = batcher.add(4)
  await delay(timeouts.stalledMs + 50)
  await assert.rejects(batcher.add(5), refused, 'the running batch has no answer')
  held.resolve()
  assert.deepEqual(await Promise.all([second, third]), [3, 4])
})

test('an input beyond the cap is refused at once, and one that waited too long is not begun', async () => {
  const begun: number[] = []
  const held = Promise.withResolvers<void>()
  const batcher = new Batcher<number, number>({
    maxSize: 1,
    concurrency: 1,
    maxWaiting: 2,
    waitMs: 50,
    run: async (inputs) => {
      begun.push(...inputs)
      await held.promise
      return inputs
    },
  })
  const first = batcher.add(0)
  await turn()
  const waiting = [batcher.add(1), batcher.add(2)]
  await assert.rejects(batcher.add(3), { name: 'Overloaded', message: 'too many requests wait to be done' })
  for (const one of waiting) await assert.rejects(one, { name: 'Overloaded', message: 'it waited too long to be done' })
  held.resolve()
  assert.equal(await first, 0)
  assert.equal(await batcher.add(4), 4, 'and there is room again')
  assert.deepEqual(begun, [0, 4])
})

test('inputs that lock the same row are never in two batches at once, and keep their order', async () => {
  const running = new Set<string>()
  const done: string[] = []
  const batcher = new Batcher<string, string>({
    maxSize: 3,
    concurrency: 4,
    keysOf: (input) => [input[0]!],
    run: async (inputs) => {
      assert.ok(inputs.length <= 3, `a batch of ${inputs.length}`)
      const keys = new Set(inputs.map((input) => input[0]!))
      for (const key of keys) assert.ok(!running.has(key), `${key} is in two batches`)
      for (const key of keys) running.add(key)
      await turn()
      for (const key of keys) running.delete(key)
      done.push(...inputs)
      return inputs
    },
  })
  const inputs = Array.from({ length: 60 }, (_, n) => `${'abcde'[n % 5]}${n}`)
  await Promise.all(inputs.map((input) => batcher.add(input)))
  for (const key of 'abcde') {
    const own = done.filter((input) => input.startsWith(key)).map((input) => Number(input.slice(1)))
    assert.deepEqual(
      own,
      own.toSorted((a, b) => a - b),
    )
  }
})

test('an input whose row is locked delays no other, is tried by itself, and goes on in order when the row is free', async () => {
  let isLocked = true
  const tried: string[] = []
  const batcher = new Batcher<string, string>({
    maxSize: 10,
    concurrency: 1,
    keysOf: (input) => [input[0]!],
    run: async (inputs) => {
      const locked = inputs.filter((input) => isLocked && input.startsWith('a'))
      tried.push(...locked)
      return inputs.map((input) => (locked.includes(input) ? new Locked('a') : input))
    },
  })
  const done: string[] = []
  const blocked = ['a1', 'a2', 'a3', 'a4'].map((input) => batcher.add(input).then((out) => done.push(out)))
  for (let n = 0; n < 100; n++) assert.equal(await batcher.add(`b${n}`), `b${n}`)
  blocked.push(batcher.add('a5').then((out) => done.push(out)))
  for (let n = 0; n < 100; n++) assert.equal(await batcher.add(`b${n}`), `b${n}`)
  assert.deepEqual(done, [])
  assert.ok(tried.length < 20, `tried ${tried.length} times`)
  assert.ok(!tried.includes('a5'), 'a5 arrived while its row was known to be locked')
  isLocked = false
  await Promise.all(blocked)
  assert.deepEqual(done, ['a1', 'a2', 'a3', 'a4', 'a5'])
})

test('an input that does not wait for locks gets its outcome at once, also if it was queued before the lock was found', async () => {
  let isLocked = true
  const batcher = new Batcher<string, string>({
    maxSize: 10,
    concurrency: 1,
    keysOf: (input) => [input[0]!],
    ifLocked: (input) => (input.endsWith('?') ? 'locked' : undefined),
    run: async (inputs) => {
      await delay(20)
      return inputs.map((input) => (isLocked ? new Locked('a') : input))
    },
  })
  assert.equal(await batcher.add('a?'), 'locked', 'it finds the lock itself')
  const waiting = batcher.add('a1')
  await delay(5)
  const queued = batcher.add('a?')
  assert.equal(await Promise.race([queued, delay(1_000)]), 'locked', 'another found the lock')
  assert.equal(batcher.waitingCount, 1)
  isLocked = false
  assert.equal(await waiting, 'a1')
})

test('a lock that an input does not name holds up that input alone, which ends when it is never free', async () => {
  const lockNotAvailable = Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' })
  const batches: string[][] = []
  const batcher = new Batcher<string, string>({
    maxSize: 8,
    concurrency: 1,
    keysOf: (input) => [input],
    run: async (inputs) => {
      batches.push(inputs)
      if (inputs.includes('held')) throw lockNotAvailable
      return inputs
    },
  })
  const outcomes = await Promise.allSettled(['a', 'b', 'held', 'c'].map((input) => batcher.add(input)))
  assert.deepEqual(
    outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : (outcome.reason as Error).name)),
    ['a', 'b', 'HeldElsewhere', 'c'],
  )
  assert.ok(batches.slice(4).every((batch) => batch.length === 1 || !batch.includes('held')))
})

test('an input that needs a lock that its keys do not name is done once that lock is free', async () => {
  const lockNotAvailable = Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' })
  let tries = 0
  const batcher = new Batcher<string, string>({
    maxSize: 8,
    concurrency: 1,
    keysOf: (input) => [input],
    run: async (inputs) => {
      if (inputs.includes('held') && ++tries < 5) throw lockNotAvailable
      return inputs
    },
  })
  assert.equal(await batcher.add('held'), 'held')
  assert.equal(tries, 5)
})

test('an input does not pass an earlier one with which it has a key in common', async () => {
  const begun: string[] = []
  const held = Promise.withResolvers<void>()
  const batcher = new Batcher<string, string>({
    maxSize: 8,
    concurrency: 2,
    keysOf: (input) => [...input],
    run: async (inputs) => {
      begun.push(...inputs)
      if (inputs.includes('a')) await held.promise
      return inputs
    },
  })
  const first = batcher.add('a')
  await turn()
  const both = batcher.add('ab')
  const passing = batcher.add('b')
  assert.equal(await batcher.add('c'), 'c')
  assert.deepEqual(begun, ['a', 'c'])
  held.resolve()
  await Promise.all([first, both, passing])
  assert.deepEqual(begun, ['a', 'c', 'ab', 'b'])
})

test('inputs of different lanes never share a batch, and those of one lane do', async () => {
  const batches: number[][] = []
  const batcher = new Batcher<number, number>({
    maxSize: 10,
    concurrency: 1,
    laneOf: (input) => input % 3,
    run: (inputs) => {
      batches.push(inputs)
      return Promise.resolve(inputs)
    },
  })
  assert.deepEqual(await Promise.all([1, 2, 3, 4, 5, 6, 7].map((input) => batcher.add(input))), [1, 2, 3, 4, 5, 6, 7])
  assert.deepEqual(batches, [
    [1, 4, 7],
    [2, 5],
    [3, 6],
  ])
})

test('an input whose row stays locked is rejected in time, also if each attempt takes longer than a check', async () => {
  // Ends the test where nothing else does.
  let isFree = false
  const batcher = new Batcher<string, string>({
    maxSize: 10,
    concurrency: 1,
    keysOf: (input) => [input],
    run: async (inputs) => {
      await delay(250)
      return inputs.map((input) => (isFree ? input : new Locked(input)))
    },
  })
  const rejected = assert.rejects(batcher.add('a'), HeldElsewhere)
  await Promise.race([rejected, delay(6_000, undefined, { ref: false }).then(() => (isFree = true))])
  assert.equal(isFree, false)
})

test('an input that arrives while a batch is split waits for those with its key, also those of the other half', async () => {
  let running = 0
  let most = 0
  const halfDone = Promise.withResolvers<void>()
  const batcher = new Batcher<string, string>({
    maxSize: 10,
    concurrency: 2,
    keysOf: () => ['key'],
    isAboutOneInput: () => true,
    run: async (inputs) => {
      if (inputs.length > 1) throw new Error('one of them is bad')
      most = Math.max(most, ++running)
      if (inputs[0] === 'second') halfDone.resolve()
      await delay(5)
      running--
      return inputs
    },
  })
  const split = ['first', 'second'].map((input) => batcher.add(input))
  await halfDone.promise
  assert.deepEqual(await Promise.all([...split, batcher.add('third')]), ['first', 'second', 'third'])
  assert.equal(most, 1)
})
