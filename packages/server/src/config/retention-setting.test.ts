import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StartError } from '#errors/start-error.ts'
import { readConfig } from './config.ts'
import { readEnv } from './env.ts'

const read = (env: NodeJS.ProcessEnv) => readConfig(readEnv(env)).retentionDays

test('by default, sessions are kept for 90 days after their end, checkouts for 550, audit entries for 365, events for 30 and logged requests for 7', () => {
  assert.deepEqual(read({}), { sessions: 90, checkouts: 550, events: 30, audit: 365, requests: 7 })
  const set = {
    ATRIUM_SESSION_RETENTION_DAYS: '1',
    ATRIUM_CHECKOUT_RETENTION_DAYS: '7',
    ATRIUM_EVENT_RETENTION_DAYS: '5',
    ATRIUM_AUDIT_RETENTION_DAYS: '30',
    ATRIUM_REQUEST_RETENTION_DAYS: '0',
  }
  assert.deepEqual(read(set), { sessions: 1, checkouts: 7, events: 5, audit: 30, requests: 0 })
})

test('a retention time below the minimum, or a fraction of a day, is rejected', () => {
  for (const [name, texts] of [
    ['ATRIUM_SESSION_RETENTION_DAYS', ['0', '-1', '1.5', 'never']],
    ['ATRIUM_CHECKOUT_RETENTION_DAYS', ['6', 'x']],
    ['ATRIUM_EVENT_RETENTION_DAYS', ['4', '40000']],
    ['ATRIUM_AUDIT_RETENTION_DAYS', ['29', 'all']],
    ['ATRIUM_REQUEST_RETENTION_DAYS', ['-1', 'off']],
  ] as const)
    for (const text of texts)
      assert.throws(
        () => read({ [name]: text }),
        (error: Error) => error instanceof StartError && error.message.includes(name),
        `${name}=${text}`,
      )
})
