import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestDatabase } from '../../packages/server/testing/test-database.ts'
import { startAtrium } from '../support/atrium-process.ts'
import { call, makeTenant } from '../support/call-api.ts'
import { startCollector } from '../support/collector.ts'
import { residentBytes } from '../support/process-memory.ts'

test(
  'a collector that hangs or is gone slows no request and no end, and memory stays bounded',
  { timeout: 120_000 },
  async (t) => {
    const database = await createTestDatabase()
    t.after(() => database.drop())
    const hung = await startCollector()
    hung.answers = false
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: hung.endpoint,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '50',
      OTEL_METRIC_EXPORT_INTERVAL: '500',
    }
    const atrium = await startAtrium({ databaseUrl: database.url, role: 'api', env })
    try {
      const { secret: key } = await makeTenant(atrium.origin)
      const ask = async () => {
        const startMs = performance.now()
        assert.equal((await call(atrium.origin, 'GET /v1/collections', { key })).status, 200)
        return performance.now() - startMs
      }
      const askMany = async (count: number) => {
        const times: number[] = []
        for (let i = 0; i < count; i += 20) times.push(...(await Promise.all(Array.from({ length: 20 }, ask))))
        return times.toSorted((a, b) => a - b)
      }
      await askMany(2_000)
      const first = await residentBytes(atrium.pid)
      const times = await askMany(4_000)
      assert.ok(times[Math.floor(times.length / 2)]! < 1_000, 'half of the requests are answered within a second')
      assert.ok(hung.requests.length > 0, 'the collector was asked')
      const grownMiB = ((await residentBytes(atrium.pid)) - first) / 2 ** 20
      assert.ok(grownMiB < 60, `grown by ${grownMiB.toFixed(0)} MiB`)
      await hung.close()
      assert.equal((await call(atrium.origin, 'GET /v1/collections', { key })).status, 200)
    } finally {
      const startMs = performance.now()
      await atrium.end('SIGTERM')
      assert.ok(performance.now() - startMs < 9_000)
      await hung.close()
    }
  },
)
