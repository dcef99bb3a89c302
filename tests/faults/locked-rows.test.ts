import { testLockedRows } from '../support/test-locked-rows.ts'

// tests/long/locked-rows.test.ts locks for 30 s.
testLockedRows({ quietMs: 3_000, lockedMs: 5_000 })
