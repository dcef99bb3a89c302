import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startVirtualTime } from '../../server/testing/virtual-time.ts'
import { ConnectionLost } from './database-errors.ts'
import { Lanes } from './lanes.ts'
import { OutcomeUnknown, Overloaded } from './overloaded.ts'

after(startVirtualTime())

const locked = Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' })
const turn = () => new Promise((resolve) => setImmediate(resolve))

test('of those who need a locked row one tries at a time; when it is free all go on', async () => {
  const lanes = new Lanes()
  let isLocked = true
  let trying = 0
  let most = 0
  const work = async (isFirst: boolean) => {
    if (!isFirst) most = Math.max(most, ++trying)
    await turn()
    if (!isFirst) trying--
    if (isLocked) throw locked
    return 'done'
  }
  const all = Array.from({ length: 40 }, () => lanes.run('row', work))
  assert.equal(await lanes.run('other', async () => 'beside'), 'beside')
  setTimeout(() => (isLocked = false), 300)
  assert.deepEqual(new Set(await Promise.all(all)), new Set(['done']))
  assert.equal(most, 1)
})

test('a caller that waits for a row that is never free gets Overloaded in time, and nothing stays queued', async () => {
  const lanes = new Lanes()
  const startedAt = performance.now()
  const all = Array.from({ length: 12 }, () => lanes.run('row', () => Promise.reject(locked)))
  for (const { status } of await Promise.allSettled(all)) assert.equal(status, 'rejected')
  assert.ok(performance.now() - startedAt < 7_000)
  assert.equal(await lanes.run('row', async () => 'free'), 'free')
})

test('an error that is not about locks is the answer, at once', async () => {
  const lanes = new Lanes()
  let tries = 0
  const fault = new Error('no such collection')
  await assert.rejects(
    lanes.run('row', () => {
      tries++
      return Promise.reject(fault)
    }),
    fault,
  )
  assert.equal(tries, 1)
})

/** 20 clients ask again and again for 3 s, and each call fails with `error` after 10 ms. Returns the errors they got. */
async function errorsOf(error: Error): Promise<Set<unknown>> {
  const lanes = new Lanes()
  const errors = new Set<unknown>()
  const endsAtMs = performance.now() + 3_000
  const fail = async () => {
    await delay(10)
    throw error
  }
  const client = async () => {
    for (; performance.now() < endsAtMs; await delay(1))
      await lanes.run('row', fail).catch((caught: unknown) => errors.add(caught))
  }
  await Promise.all(Array.from({ length: 20 }, client))
  return errors
}

test('a run of refusals is not a stall', async () => {
  const refusal = new Error('invite_invalid')
  assert.deepEqual(await errorsOf(refusal), new Set([refusal]))
})

for (const [name, error] of Object.entries({
  'a lost connection': new ConnectionLost('closed'),
  'a lost answer': new OutcomeUnknown(new ConnectionLost('closed')),
  'a statement that took too long': Object.assign(new Error('canceling statement'), { code: '57014' }),
  'a full queue': new Overloaded('no connection is free'),
}))
  test(`a run of calls that end with ${name} is a stall`, async () => {
    const messages = [...(await errorsOf(error))].map((caught) => (caught as Error).message)
    assert.deepEqual(new Set(messages), new Set([error.message, 'those before it are not answered']))
  })
