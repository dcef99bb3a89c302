import { StartError } from '#errors/start-error.ts'
import type { Env } from './env.ts'
import { integer } from './integer.ts'

const protocols = ['http/protobuf', 'http/json'] as const
const roots = ['always_on', 'always_off', 'traceidratio'] as const
const samplers = roots.flatMap((root) => [root, `parentbased_${root}`] as const)

/** What is sent over OTLP, and where. */
export interface TelemetryConfig {
  /** The address of the collector, to which `v1/traces` and `v1/metrics` are added. It ends with a slash. */
  endpoint: string
  protocol: (typeof protocols)[number]
  traces: boolean
  metrics: boolean
  sampler: (typeof samplers)[number]
  /** From 0 to 1, for the samplers by ratio. */
  samplerRatio: number
  /** The attributes of the resource: what the operator says about this installation. */
  resource: Record<string, string>
  /** The longest time that a span waits before it is sent. */
  spanDelayMs: number
  metricIntervalMs: number
}

/**
 * Reads the variables of the OpenTelemetry specification. undefined: no endpoint is set, or the SDK is disabled.
 *
 * @throws {StartError} if a value is not one of the specification's or is not supported here
 * @see https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
export function readTelemetryConfig(env: Env): TelemetryConfig | undefined {
  const protocol = oneOf('OTEL_EXPORTER_OTLP_PROTOCOL', env.otlpProtocol ?? 'http/protobuf', protocols)
  const sampler = oneOf('OTEL_TRACES_SAMPLER', env.otelSampler ?? 'parentbased_always_on', samplers)
  const exporters = ['otlp', 'none'] as const
  const traces = oneOf('OTEL_TRACES_EXPORTER', env.otelTracesExporter ?? 'otlp', exporters) === 'otlp'
  const metrics = oneOf('OTEL_METRICS_EXPORTER', env.otelMetricsExporter ?? 'otlp', exporters) === 'otlp'
  const disabled = oneOf('OTEL_SDK_DISABLED', env.otelDisabled?.toLowerCase() ?? 'false', ['true', 'false'])
  const config = {
    protocol,
    traces,
    metrics,
    sampler,
    samplerRatio: ratio(env.otelSamplerArg ?? '1'),
    resource: {
      'service.name': 'atrium',
      ...readPairs('OTEL_RESOURCE_ATTRIBUTES', env.otelResource ?? ''),
      ...(env.otelServiceName ? { 'service.name': env.otelServiceName } : {}),
    },
    spanDelayMs: integer('OTEL_BSP_SCHEDULE_DELAY', env.otelSpanDelay ?? '5000', 10, 600_000),
    metricIntervalMs: integer('OTEL_METRIC_EXPORT_INTERVAL', env.otelMetricInterval ?? '60000', 100, 3_600_000),
  }
  if (env.otlpEndpoint === undefined) return undefined
  const endpoint = readEndpoint(env.otlpEndpoint)
  return disabled === 'true' ? undefined : { ...config, endpoint }
}

/** The headers that are sent to the collector, which usually contain a credential. A wrong value is not quoted. */
export function readTelemetryHeaders({ otlpHeaders }: Env): Record<string, string> | undefined {
  if (otlpHeaders === undefined) return undefined
  const headers = readPairs('OTEL_EXPORTER_OTLP_HEADERS', otlpHeaders)
  try {
    void new Headers(headers)
  } catch {
    throw new StartError('OTEL_EXPORTER_OTLP_HEADERS has a name or a value that is not valid in HTTP')
  }
  return headers
}

function oneOf<Value extends string>(name: string, text: string, values: readonly Value[]): Value {
  const value = values.find((one) => one === text)
  if (value === undefined) throw new StartError(`${name} must be one of ${values.join(', ')}, not "${text}"`)
  return value
}

function ratio(text: string): number {
  const value = Number(text)
  if (!(value >= 0 && value <= 1)) throw new StartError(`OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, not "${text}"`)
  return value
}

/** A wrong value is not quoted, because it may contain a password. */
function readEndpoint(text: string): string {
  const url = URL.parse(text)
  if (!url || !['http:', 'https:'].includes(url.protocol))
    throw new StartError('OTEL_EXPORTER_OTLP_ENDPOINT must be an address that starts with http:// or https://')
  if (url.username || url.password || url.search || url.hash)
    throw new StartError(
      'OTEL_EXPORTER_OTLP_ENDPOINT must have no credentials, query or fragment; credentials go into OTEL_EXPORTER_OTLP_HEADERS',
    )
  return url.href.endsWith('/') ? url.href : `${url.href}/`
}

/** `name=value` pairs with commas between them. Values may be percent-encoded, as in W3C Baggage. */
function readPairs(name: string, text: string): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '')
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=')
      const key = pair.slice(0, at).trim()
      const value = decode(pair.slice(at + 1).trim())
      if (at < 1 || key === '' || value === undefined)
        throw new StartError(`${name} must be a list such as name=value,other=value, with percent-encoded values`)
      return [key, value]
    }),
  )
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
