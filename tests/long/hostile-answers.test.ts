import assert from 'node:assert/strict'
import { test } from 'node:test'
import { spendHostileEvening } from '../../packages/server/src/testing/hostile-evening.ts'

test('20 hostile providers, 20 MCP servers and 20 remote agents at once: the echo of another tenant takes less than 500 ms', async (t) => {
  const { echoMs, blockMs } = await spendHostileEvening({ each: 20, echoes: 60 })
  const sorted = echoMs.toSorted((a, b) => a - b)
  const [median, worst] = [sorted[sorted.length >> 1]!, sorted.at(-1)!]
  t.diagnostic(`the echo took ${median.toFixed()} ms, at most ${worst.toFixed()}; the longest block ${blockMs.toFixed()} ms`)
  assert.ok(worst < 500, `${worst.toFixed()} ms`)
})
