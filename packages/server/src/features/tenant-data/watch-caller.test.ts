import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { ApiError } from '#errors/api-error.ts'
import { startVirtualTime } from '#testing/virtual-time.ts'
import { watchCaller } from './watch-caller.ts'

after(startVirtualTime())

const allowed = async () => undefined
const failed = () => Promise.reject(new Error('connection lost'))
const hung = () => new Promise<never>(() => undefined)
const refused = () => Promise.reject(new ApiError('role_not_allowed'))

/** The codes with which an answer was ended, if these are the results of its checks; the last one is repeated. */
async function endsAfter(checks: (() => Promise<void>)[], ms: number): Promise<string[]> {
  const codes: string[] = []
  let at = 0
  const next = () => (checks[Math.min(at++, checks.length - 1)] ?? allowed)()
  const stop = watchCaller(next, ({ code }) => codes.push(code), { intervalMs: 10, timeoutMs: 600 })
  await wait(ms)
  stop()
  return codes
}

test('the first check that refuses the caller ends the answer, and ends it once', async () => {
  assert.deepEqual(await endsAfter([allowed, refused], 300), ['role_not_allowed'])
})

test('a check that fails or hangs does not end the answer, but a database that stays unavailable does', async () => {
  assert.deepEqual(await endsAfter([failed, failed, allowed], 1_000), [])
  assert.deepEqual(await endsAfter([hung, allowed], 150), [])
  for (const away of [failed, hung]) {
    assert.deepEqual(await endsAfter([away], 150), [])
    assert.deepEqual(await endsAfter([away], 1_200), ['unavailable'])
  }
})

test('a check that ends after the answer ends nothing', async () => {
  const codes: string[] = []
  const late = () => wait(50).then(refused)
  const stop = watchCaller(late, ({ code }) => codes.push(code), { intervalMs: 10 })
  await wait(30)
  stop()
  await wait(100)
  assert.deepEqual(codes, [])
})
