import type { Logger } from 'pino'
import type { Config } from '#config/config.ts'
import type { Secrets } from '#config/secrets.ts'
import type { Tracing } from './tracing.ts'

/** undefined: traces are not configured, and OpenTelemetry is not loaded. */
export async function openTracing(
  { telemetry }: Pick<Config, 'telemetry'>,
  { otlpHeaders }: Pick<Secrets, 'otlpHeaders'>,
  role: string,
  log: Pick<Logger, 'warn'>,
): Promise<Tracing | undefined> {
  if (!telemetry?.traces) return undefined
  const { OtlpTracing } = await import('./otlp-tracing.ts')
  return OtlpTracing.open(telemetry, otlpHeaders, role, (line) => log.warn(line))
}
