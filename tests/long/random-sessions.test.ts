import { test } from 'node:test'
import { checkRandomSessions } from '../../packages/server/testing/random-sessions.ts'

test('after 10,000 random sessions, receipts, ledger, usage and events agree to the credit', { timeout: 30 * 60_000 }, () =>
  checkRandomSessions(10_000),
)
