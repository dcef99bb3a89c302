import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StartError } from '#errors/start-error.ts'
import { readConfig } from './config.ts'
import { readEnv } from './env.ts'

const read = (env: NodeJS.ProcessEnv) => readConfig(readEnv(env)).retentionDays

test('what is over is kept for 90 days as a session, 365 as a checkout and 30 as an event, unless set otherwise', () => {
  assert.deepEqual(read({}), { sessions: 90, checkouts: 365, events: 30 })
  const set = { ATRIUM_SESSION_RETENTION_DAYS: '1', ATRIUM_CHECKOUT_RETENTION_DAYS: '7', ATRIUM_EVENT_RETENTION_DAYS: '5' }
  assert.deepEqual(read(set), { sessions: 1, checkouts: 7, events: 5 })
})

test('no shorter than it is still needed, and only whole days', () => {
  for (const [name, texts] of [
    ['ATRIUM_SESSION_RETENTION_DAYS', ['0', '-1', '1.5', 'never']],
    ['ATRIUM_CHECKOUT_RETENTION_DAYS', ['6', 'x']],
    ['ATRIUM_EVENT_RETENTION_DAYS', ['4', '40000']],
  ] as const)
    for (const text of texts)
      assert.throws(
        () => read({ [name]: text }),
        (error: Error) => error instanceof StartError && error.message.includes(name),
        `${name}=${text}`,
      )
})
