import { testHang } from '../support/hang-world.ts'

// tests/long/database-hang.test.ts is the full version: 60 s at 500 requests/s.
testHang({ warmMs: 4_000, hangMs: 9_000, perSecond: 100, busy: { answerMs: 12_000, recoveryMs: 5_000 } })
