import { ValueType, type HrTime } from '@opentelemetry/api'
import { hrTime } from '@opentelemetry/core'
import {
  AggregationTemporality,
  DataPointType,
  MeterProvider,
  PeriodicExportingMetricReader,
  type CollectionResult,
  type DataPoint,
  type Histogram,
  type MetricData,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics'
import type { Resource } from '@opentelemetry/resources'
import type { TelemetryConfig } from '#config/telemetry-config.ts'
import { closeTimeoutMs, exporterOptions, exportTimeoutMs, openResource, reportFailures } from './otlp.ts'

/** One metric in the form of Prometheus, with its values. */
interface Family {
  name: string
  help: string
  type: string
  values: Sample[]
}

interface Sample {
  metricName?: string
  labels: Record<string, string | number>
  value: number
}

/** Sends the metrics that Prometheus would read, with the same names, to a collector over OTLP. */
export async function startMetricsExport(
  config: TelemetryConfig,
  headers: Record<string, string> | undefined,
  collect: () => Promise<Family[]>,
): Promise<{ stop(): Promise<void> }> {
  reportFailures((line) => console.error(`atrium: ${line}`))
  const resource = openResource(config)
  const startTime = hrTime()
  const reader = new PeriodicExportingMetricReader({
    exporter: await openExporter(config, headers),
    exportIntervalMillis: config.metricIntervalMs,
    exportTimeoutMillis: Math.min(exportTimeoutMs, config.metricIntervalMs),
    metricProducers: [{ collect: async () => convertFamilies(await collect(), resource, startTime) }],
  })
  const provider = new MeterProvider({ resource, readers: [reader] })
  return {
    stop: async () => {
      const stopped = provider.shutdown({ timeoutMillis: closeTimeoutMs }).catch(() => undefined)
      await Promise.race([stopped, new Promise((resolve) => setTimeout(resolve, closeTimeoutMs).unref())])
    },
  }
}

async function openExporter(config: TelemetryConfig, headers: Record<string, string> | undefined): Promise<PushMetricExporter> {
  const { OTLPMetricExporter } =
    config.protocol === 'http/json'
      ? await import('@opentelemetry/exporter-metrics-otlp-http')
      : await import('@opentelemetry/exporter-metrics-otlp-proto')
  return new OTLPMetricExporter(exporterOptions(config, 'metrics', headers))
}

function convertFamilies(families: Family[], resource: Resource, startTime: HrTime): CollectionResult {
  const endTime = hrTime()
  const metrics = families.flatMap((family) => convertFamily(family, startTime, endTime))
  return { resourceMetrics: { resource, scopeMetrics: [{ scope: { name: 'atrium' }, metrics }] }, errors: [] }
}

function convertFamily({ name, help, type, values }: Family, startTime: HrTime, endTime: HrTime): MetricData[] {
  const base = {
    descriptor: { name, description: help, unit: unitOf(name), valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  }
  const point = <T>(attributes: Sample['labels'], value: T): DataPoint<T> => ({ startTime, endTime, attributes, value })
  const points = () => values.map(({ labels, value }) => point(labels, value))
  if (type === 'counter') return [{ ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: points() }]
  if (type === 'gauge') return [{ ...base, dataPointType: DataPointType.GAUGE, dataPoints: points() }]
  if (type !== 'histogram') return []
  const series = Map.groupBy(values, ({ labels }) => JSON.stringify({ ...labels, le: undefined }))
  const dataPoints = [...series].map(([labels, samples]) =>
    point(JSON.parse(labels) as Sample['labels'], convertHistogram(name, samples)),
  )
  return [{ ...base, dataPointType: DataPointType.HISTOGRAM, dataPoints }]
}

/** A bucket of Prometheus counts all values up to its bound; a bucket of OTLP only those above the bound before it. */
function convertHistogram(name: string, samples: Sample[]): Histogram {
  const total = (suffix: string) => samples.find(({ metricName }) => metricName === `${name}${suffix}`)?.value ?? 0
  const count = total('_count')
  const upTo = samples
    .flatMap(({ labels: { le }, value }) => (le === undefined || le === '+Inf' ? [] : [{ bound: Number(le), value }]))
    .sort((a, b) => a.bound - b.bound)
  const cumulative = [...upTo.map(({ value }) => value), count]
  const counts = cumulative.map((value, i) => value - (cumulative[i - 1] ?? 0))
  return { count, sum: total('_sum'), buckets: { boundaries: upTo.map(({ bound }) => bound), counts } }
}

/** The unit in the Unified Code for Units of Measure, as OTLP requires. */
function unitOf(name: string): string {
  if (/_seconds(_total)?$/.test(name)) return 's'
  return name.endsWith('_bytes') ? 'By' : '1'
}
