import { testHang } from '../support/hang-world.ts'

testHang({ hangMs: 60_000, perSecond: 500 })
