import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Turns } from './turns.ts'

const refusal = () => new Error('not now')

test('so many run at once, the others in the order in which they came, also after one failed', async () => {
  const turns = new Turns({ atOnce: 2, mostWaiting: 10, patienceMs: 10_000, refusal })
  const begun: number[] = []
  const ends = Array.from({ length: 5 }, () => Promise.withResolvers<void>())
  const all = ends.map(({ promise }, i) =>
    turns.run(() => {
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

test('who waits too long, or finds too many waiting, is refused and does nothing', async () => {
  const turns = new Turns({ atOnce: 1, mostWaiting: 1, patienceMs: 20, refusal })
  const { promise, resolve } = Promise.withResolvers<void>()
  const first = turns.run(() => promise)
  const waiting = turns.run(() => assert.fail('it ran'))
  await assert.rejects(
    turns.run(() => assert.fail('it ran')),
    /not now/,
  )
  await assert.rejects(waiting, /not now/)
  resolve()
  await first
  assert.equal(await turns.run(async () => 'again'), 'again')
})
