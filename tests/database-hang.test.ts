import { testHang } from './support/hang-world.ts'

// The whole of it, 60 s at 500 requests/s: tests/long/database-hang.test.ts.
testHang({ warmMs: 4_000, hangMs: 9_000, perSecond: 100 })
