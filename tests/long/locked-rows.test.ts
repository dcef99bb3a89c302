import { testLockedRows } from '../support/assert-locks-stay-apart.ts'

testLockedRows({ quietMs: 15_000, lockedMs: 30_000 })
