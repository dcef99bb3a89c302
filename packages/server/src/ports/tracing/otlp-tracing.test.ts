import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Connections } from '@atrium/traffic/connections'
import { startCollector } from '../../../../../tests/support/collector.ts'
import { readEnv } from '#config/env.ts'
import { readTelemetryConfig } from '#config/telemetry-config.ts'
import { Metrics } from '#http/metrics.ts'
import { OtlpTracing } from './otlp-tracing.ts'

async function open(t: TestContext, more: Record<string, string> = {}) {
  const collector = await startCollector()
  t.after(() => collector.close())
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json', ...more }
  const config = readTelemetryConfig(readEnv(env))
  assert.ok(config)
  return { collector, tracing: await OtlpTracing.open(config, undefined, 'api', () => undefined) }
}

const internal = { kind: 'internal' } as const
const pool = { idleCount: 0, totalCount: 0, waitingCount: 0 } as Connections

test('by ratio, a trace is recorded with all of its spans or not at all', async (t) => {
  const sampler = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.5' }
  const { collector, tracing } = await open(t, sampler)
  const model = async () => undefined
  for (let i = 0; i < 100; i++)
    await tracing.span('session', internal, () =>
      tracing.span('model_call', internal, () => tracing.childSpan('statement', internal, model)),
    )
  await tracing.close()
  const named = (name: string) => collector.spans.filter((span) => span.name === name)
  const sessions = named('session')
  assert.ok(sessions.length > 0 && sessions.length < 100, `${sessions.length} of 100 are sampled`)
  for (const name of ['model_call', 'statement']) {
    assert.equal(named(name).length, sessions.length, name)
    assert.ok(
      named(name).every(({ parentSpanId }) => parentSpanId !== undefined),
      `no ${name} is a trace of its own`,
    )
  }
})

test('what goes on after its span has ended is in no trace, and sends no traceparent', async (t) => {
  const { collector, tracing } = await open(t)
  const span = tracing.begin('request', internal, undefined)
  let later = Promise.resolve()
  let after: object | undefined
  span.run(() => {
    assert.equal(tracing.headers().traceparent?.split('-')[1], span.traceId)
    later = delay(1).then(() => tracing.childSpan('statement', internal, async () => void (after = tracing.headers())))
  })
  span.end()
  await later
  assert.deepEqual(after, {})
  await tracing.close()
  assert.deepEqual(
    collector.spans.map(({ name }) => name),
    ['request'],
  )
})

test('a trace that is not sampled says so to the service that is called', async (t) => {
  const { tracing } = await open(t, { OTEL_TRACES_SAMPLER: 'parentbased_always_off' })
  const span = tracing.begin('request', internal, undefined)
  assert.match(span.run(() => tracing.headers().traceparent) ?? '', /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/)
  await tracing.close()
})

test('the span of a unit of work has its outcome, also where it fails', async (t) => {
  const { collector, tracing } = await open(t)
  const metrics = new Metrics({ pool }, 'worker', tracing)
  await metrics.measure('model_call', async () => undefined)
  await metrics.measure(
    'webhook_delivery',
    async () => undefined,
    () => 'refused',
  )
  const away = Object.assign(new Error('names a host'), { code: 'ECONNREFUSED' })
  await assert.rejects(metrics.measure('session', () => Promise.reject(away)))
  await tracing.close()
  assert.deepEqual(
    collector.spans.map(({ name, attributes, isError }) => [
      name,
      attributes['atrium.outcome'],
      attributes['error.type'],
      isError,
    ]),
    [
      ['model_call', 'done', undefined, false],
      ['webhook_delivery', 'refused', 'refused', true],
      ['session', 'failed', 'ECONNREFUSED', true],
    ],
  )
})

test('a refusal of the collector is reported with its status, and without its answer', async (t) => {
  const refusing = createServer((_req, res) => res.writeHead(401).end('{"code":"secret","message":"secret"}'))
  await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve))
  t.after(() => refusing.close())
  const config = readTelemetryConfig(
    readEnv({
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(refusing.address() as AddressInfo).port}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '10',
    }),
  )
  assert.ok(config)
  const reported = Promise.withResolvers<string>()
  const tracing = await OtlpTracing.open(config, undefined, 'api', reported.resolve)
  t.after(() => tracing.close())
  await tracing.span('session', internal, async () => undefined)
  assert.equal(
    await reported.promise,
    'telemetry cannot be sent to OTEL_EXPORTER_OTLP_ENDPOINT (HTTP 401); what does not fit in memory is dropped',
  )
})
