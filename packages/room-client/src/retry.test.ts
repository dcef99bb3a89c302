import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pass } from 'node:timers/promises'
import { delayMs, retryAfterSecondsOf, wait } from './retry.ts'

test('a Retry-After that no timer can hold is waited for, not skipped', async () => {
  for (const value of ['2147484', '9'.repeat(400), 'Fri, 31 Dec 9999 23:59:59 GMT']) {
    const stop = new AbortController()
    let isOver = false
    const waited = wait(delayMs(0, retryAfterSecondsOf(new Headers({ 'retry-after': value }))), stop.signal).then(
      () => (isOver = true),
      () => undefined,
    )
    await pass(20)
    stop.abort()
    await waited
    assert.equal(isOver, false, value)
  }
})
