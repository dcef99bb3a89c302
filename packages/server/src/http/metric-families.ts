import { AggregatorRegistry, Registry } from '#libraries/prom-client.js'

/**
 * One metric with its values, as one process reports it. Plain JSON, because it goes over the channel of a child
 * process.
 */
export interface MetricFamily {
  name: string
  help: string
  type: string
  /** How values with the same labels become one: sum, max, min, average, first or omit. */
  aggregator: string
  values: MetricSample[]
}

interface MetricSample {
  /** Set where it differs from the name of the family, such as `…_bucket` of a histogram. */
  metricName?: string
  labels: Record<string, string | number>
  value: number
}

/** Collects the metrics of one or more processes. */
export type Collect = () => Promise<MetricFamily[]>

/** The metrics of a registry, each value with the role of this process as a label. */
export async function readFamilies(registry: Registry, role: string): Promise<MetricFamily[]> {
  // prom-client's types omit two members of its metrics: the values and the aggregator.
  const families = (await registry.getMetricsAsJSON()) as unknown as MetricFamily[]
  return families.map(({ name, help, type, aggregator, values }) => ({
    name,
    help,
    type,
    aggregator,
    // JSON has no NaN, which the delay of the event loop is before its first measurement.
    values: values.flatMap(({ labels, ...sample }) =>
      Number.isFinite(sample.value) ? [{ ...sample, labels: { ...labels, role } }] : [],
    ),
  }))
}

/** Merges what several processes report. Values with the same name and labels become one. */
export function mergeFamilies(lists: MetricFamily[][]): MetricFamily[] {
  const merged = AggregatorRegistry.aggregate(lists).getMetricsAsArray() as unknown as MetricFamily[]
  // Without the functions of prom-client: a family is plain JSON.
  return merged.map(({ name, help, type, aggregator, values }) => ({ name, help, type, aggregator, values }))
}

/** Prometheus' text format, version 0.0.4. */
export function formatFamilies(families: MetricFamily[]): Promise<string> {
  const registry = new Registry()
  for (const family of families) registry.registerMetric({ ...family, get: () => family } as never)
  return registry.metrics()
}
