// oxlint-disable typescript/no-explicit-any -- the JSON of OTLP
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { startCollector } from '../../../../../tests/support/collector.ts'
import { readEnv } from '#config/env.ts'
import { readTelemetryConfig } from '#config/telemetry-config.ts'
import { mergeFamilies, readFamilies } from '#http/metric-families.ts'
import { startMetricsExport } from './otlp-metrics.ts'

/** The families of a process after these requests, each with its operation and its seconds. */
async function processWith(requests: [operation: string, seconds: number][]) {
  const registers = [new Registry()]
  const counter = new Counter({ name: 'asked_total', help: 'Asked', labelNames: ['operation'], registers })
  const time = new Histogram({ name: 'time_seconds', help: 'Time', labelNames: ['operation'], buckets: [0.1, 1], registers })
  new Gauge({ name: 'size_bytes', help: 'Size', registers }).set(5)
  for (const [operation, seconds] of requests) {
    counter.inc({ operation })
    time.observe({ operation }, seconds)
  }
  return readFamilies(registers[0]!, 'api')
}

test('the metrics of several processes arrive as OTLP has them: sums, and what is between two bounds', async (t) => {
  const collector = await startCollector()
  t.after(() => collector.close())
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' }
  const config = readTelemetryConfig(readEnv(env))
  assert.ok(config)
  const one = await processWith([
    ['read', 0.05],
    ['read', 0.5],
    ['write', 3],
  ])
  const other = await processWith([['read', 0.5]])
  const sending = await startMetricsExport(config, undefined, async () => mergeFamilies([one, other]))
  await sending.stop()
  const { resourceMetrics } = JSON.parse(collector.requests.at(-1)!.text)
  const [{ metrics }] = resourceMetrics[0].scopeMetrics
  const found = metrics.flatMap(({ name, unit, sum, gauge, histogram }: Record<string, any>) =>
    (sum ?? gauge ?? histogram).dataPoints.map(({ attributes, asDouble, bucketCounts, explicitBounds, count }: any) => [
      name,
      unit,
      attributes.map(({ value }: any) => value.stringValue).join(),
      asDouble ?? { bucketCounts, explicitBounds, count },
    ]),
  )
  const explicitBounds = [0.1, 1]
  assert.deepEqual(found, [
    ['asked_total', '1', 'read,api', 3],
    ['asked_total', '1', 'write,api', 1],
    ['time_seconds', 's', 'read,api', { bucketCounts: [1, 2, 0], explicitBounds, count: 3 }],
    ['time_seconds', 's', 'write,api', { bucketCounts: [0, 0, 1], explicitBounds, count: 1 }],
    ['size_bytes', 'By', 'api', 10],
  ])
})
