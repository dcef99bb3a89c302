import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Semaphore } from './semaphore.ts'

const refusal = () => new Error('not now')

test('so many run at once, the others in the order in which they came, also after one failed', async () => {
  const semaphore = new Semaphore(2, { maxWaiting: 10, timeoutMs: 10_000, refusal })
  const begun: number[] = []
  const ends = Array.from({ length: 5 }, () => Promise.withResolvers<void>())
  const all = ends.map(({ promise }, i) =>
    semaphore.run(() => {
      begun.push(i)
      return promise
    }),
  )
  assert.deepEqual(begun, [0, 1])
  ends[1]!.reject(new Error('no'))
  await assert.rejects(all[1]!, /no/)
  assert.deepEqual(begun, [0, 1, 2])
  for (const { resolve } of ends) resolve()
  await Promise.all(all.filter((_, i) => i !== 1))
  assert.deepEqual(begun, [0, 1, 2, 3, 4])
})

test('what waits too long, or finds too many waiting, is refused and does not run', async () => {
  const semaphore = new Semaphore(1, { maxWaiting: 1, timeoutMs: 20, refusal })
  const { promise, resolve } = Promise.withResolvers<void>()
  const first = semaphore.run(() => promise)
  const waiting = semaphore.run(() => assert.fail('it ran'))
  await assert.rejects(
    semaphore.run(() => assert.fail('it ran')),
    /not now/,
  )
  await assert.rejects(waiting, /not now/)
  resolve()
  await first
  assert.equal(await semaphore.run(async () => 'again'), 'again')
})

test('the limit can change: a lower one lets what runs finish, a higher one admits at once', async () => {
  const semaphore = new Semaphore(2)
  const gone: number[] = []
  const all = Array.from({ length: 5 }, (_, n) => semaphore.acquire().then(() => gone.push(n)))
  await Promise.all(all.slice(0, 2))
  assert.deepEqual(gone, [0, 1])
  semaphore.limit = 1
  semaphore.release()
  await Promise.resolve()
  assert.deepEqual(gone, [0, 1], 'one too many is under way')
  semaphore.release()
  await all[2]
  assert.deepEqual(gone, [0, 1, 2])
  semaphore.limit = 3
  await Promise.all(all)
  assert.deepEqual(gone, [0, 1, 2, 3, 4])
})
