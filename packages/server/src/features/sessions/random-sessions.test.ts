import { test } from 'node:test'
import { checkRandomSessions } from '#testing/random-sessions.ts'

test('after 200 random sessions, receipts, ledger, usage and events agree to the credit', () => checkRandomSessions(200))
