import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { startTestSpace } from './testing/test-space.ts'

test('a held read ends at its time where the clock is set back by an hour', async (t) => {
  const space = await startTestSpace()
  t.after(() => space.close())
  const secret = { room: `r${randomBytes(8).toString('hex')}`, mk: randomBytes(32).toString('base64url') }
  await space.call('turn', { ...secret, message: { text: 'first' } })
  const { etag, count } = (await space.call('poll', secret)).body
  const since = { sinceEtag: etag, sinceCount: count, waitMs: 1_000 }
  const held = space.call('poll', { ...secret, ...since }, undefined, AbortSignal.timeout(10_000))
  await space.untilHeld(1)
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() - 3_600_000 })
  assert.deepEqual((await held).body.entries, [])
})
