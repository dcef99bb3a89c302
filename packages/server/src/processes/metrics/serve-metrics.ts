import type { Config } from '#config/config.ts'
import type { Secrets } from '#config/secrets.ts'
import type { MetricsHub } from './metrics-hub.ts'
import { startMetricsServer } from './metrics-server.ts'

/** Serves the metrics of the hub if a port is configured for that. */
export async function serveMetrics(
  { metrics: { host, port, token } }: Pick<Config, 'metrics'>,
  hub: MetricsHub,
): Promise<{ stop(): Promise<void> }> {
  if (port === undefined) return { stop: async () => undefined }
  return startMetricsServer({ host, port, token, collect: hub.collect })
}

/** Sends the metrics of the hub to a collector where one is configured; undefined: OpenTelemetry is not loaded. */
export async function exportMetrics(
  { telemetry }: Pick<Config, 'telemetry'>,
  { otlpHeaders }: Pick<Secrets, 'otlpHeaders'>,
  hub: MetricsHub,
): Promise<{ stop(): Promise<void> } | undefined> {
  if (!telemetry?.metrics) return undefined
  const { startMetricsExport } = await import('#ports/tracing/otlp-metrics.ts')
  return startMetricsExport(telemetry, otlpHeaders, hub.collect)
}
