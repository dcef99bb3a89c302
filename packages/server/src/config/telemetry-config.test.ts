import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StartError } from '#errors/start-error.ts'
import { readEnv } from './env.ts'
import { readTelemetryConfig, readTelemetryHeaders } from './telemetry-config.ts'

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }
const read = (env: Record<string, string>) => readTelemetryConfig(readEnv(env))

test('nothing is sent without an endpoint, or where the SDK is disabled', () => {
  assert.equal(read({}), undefined)
  assert.equal(read({ OTEL_SERVICE_NAME: 'books' }), undefined)
  assert.equal(read({ ...endpoint, OTEL_SDK_DISABLED: 'TRUE' }), undefined)
})

test('the variables have the defaults and the precedence of the specification', () => {
  const config = read({ ...endpoint, OTEL_RESOURCE_ATTRIBUTES: 'service.name=one, deployment.environment.name=a%20b' })
  assert.deepEqual(config, {
    endpoint: 'http://collector:4318/',
    protocol: 'http/protobuf',
    traces: true,
    metrics: true,
    sampler: 'parentbased_always_on',
    samplerRatio: 1,
    resource: { 'service.name': 'one', 'deployment.environment.name': 'a b' },
    spanDelayMs: 5_000,
    metricIntervalMs: 60_000,
  })
  const named = read({ ...endpoint, OTEL_SERVICE_NAME: 'two', OTEL_RESOURCE_ATTRIBUTES: 'service.name=one' })
  assert.deepEqual(named?.resource, { 'service.name': 'two' })
  assert.equal(read({ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://a.example/otlp/' })?.endpoint, 'https://a.example/otlp/')
})

test('headers are read as W3C Baggage, from the variable or a file, and never quoted', () => {
  const headers = (text: string) => readTelemetryHeaders(readEnv({ OTEL_EXPORTER_OTLP_HEADERS: text }))
  assert.deepEqual(headers('authorization=Basic%20aGk%3D,x-team=books'), { authorization: 'Basic aGk=', 'x-team': 'books' })
  for (const wrong of ['hush-hush', '=hush', 'a=%zz-hush', 'a b=hush', 'a=hu%0Ash'])
    assert.throws(
      () => headers(wrong),
      (error) => error instanceof StartError && !error.message.includes('hu'),
      wrong,
    )
})

test('a value that is not supported stops the start with a line that names the variable', () => {
  const wrong = {
    OTEL_EXPORTER_OTLP_ENDPOINT: ['collector:4318', 'ftp://collector', 'http://a:b@collector', 'http://collector?x=1'],
    OTEL_EXPORTER_OTLP_PROTOCOL: ['grpc', 'HTTP/JSON'],
    OTEL_TRACES_SAMPLER: ['jaeger_remote', 'always'],
    OTEL_TRACES_SAMPLER_ARG: ['2', '-1', 'half'],
    OTEL_TRACES_EXPORTER: ['zipkin'],
    OTEL_METRICS_EXPORTER: ['prometheus'],
    OTEL_SDK_DISABLED: ['yes'],
    OTEL_RESOURCE_ATTRIBUTES: ['books', '=x', 'a=%zz'],
    OTEL_BSP_SCHEDULE_DELAY: ['soon'],
    OTEL_METRIC_EXPORT_INTERVAL: ['1'],
  }
  for (const [name, values] of Object.entries(wrong))
    for (const value of values)
      assert.throws(
        () => read({ ...endpoint, [name]: value }),
        (error) => error instanceof StartError && error.message.startsWith(`${name} `) && !error.message.includes('\n'),
        `${name}=${value}`,
      )
})
