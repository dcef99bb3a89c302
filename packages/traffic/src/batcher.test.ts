import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Batcher } from './batcher.ts'

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

test('a batch that one input spoils is tried one by one', async () => {
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
