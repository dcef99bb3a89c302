import { testLockedRows } from './support/test-locked-rows.ts'

// With 30 s of lock: tests/long/locked-rows.test.ts.
testLockedRows({ quietMs: 3_000, lockedMs: 5_000 })
