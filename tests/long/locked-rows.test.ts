import { testLockedRows } from '../support/test-locked-rows.ts'

testLockedRows({ quietMs: 15_000, lockedMs: 30_000 })
