import { testHang } from '../support/hang-world.ts'

testHang({ warmMs: 15_000, hangMs: 60_000, perSecond: 500 })
