import { randomUUID } from 'node:crypto'
import { diag, DiagLogLevel } from '@opentelemetry/api'
import { resourceFromAttributes, type Resource } from '@opentelemetry/resources'
import type { TelemetryConfig } from '#config/telemetry-config.ts'

const reportIntervalMs = 60_000
/** How long one attempt to send may take. */
export const exportTimeoutMs = 10_000
/** How long an ending process waits until the remaining data is sent. */
export const closeTimeoutMs = 1_000

/** The operator's attributes of the installation, and the id of this process. */
export function openResource({ resource }: TelemetryConfig, attributes: Record<string, string> = {}): Resource {
  return resourceFromAttributes({ 'service.instance.id': randomUUID(), ...attributes, ...resource })
}

/** The options of an exporter. What is given here takes precedence over what the library reads from the environment. */
export function exporterOptions(
  { endpoint }: TelemetryConfig,
  signal: 'traces' | 'metrics',
  headers: Record<string, string> | undefined,
) {
  return { url: `${endpoint}v1/${signal}`, timeoutMillis: exportTimeoutMs, ...(headers ? { headers } : {}) }
}

/**
 * Reports at most once a minute that telemetry is not sent, with the status or the error code of the system. The rest
 * of the library's text is not used: it may contain the collector's answer, and there is one for each attempt.
 */
export function reportFailures(say: (line: string) => void): void {
  let reportedAtMs = -Infinity
  const report = (text: string) => {
    if (performance.now() - reportedAtMs < reportIntervalMs) return
    reportedAtMs = performance.now()
    const reason = reasonIn(text)
    const said = reason === undefined ? '' : ` (${reason})`
    say(`telemetry cannot be sent to OTEL_EXPORTER_OTLP_ENDPOINT${said}; what does not fit in memory is dropped`)
  }
  const ignore = () => undefined
  const logger = { error: report, warn: ignore, info: ignore, debug: ignore, verbose: ignore }
  diag.setLogger(logger, { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true })
}

/** `HTTP 401` or `ECONNREFUSED`. The library logs an error as a JSON object of strings, and a timeout as plain text. */
function reasonIn(text: string): string | undefined {
  try {
    const { code } = JSON.parse(text) as { code?: unknown }
    if (typeof code !== 'string') return undefined
    if (/^[1-5]\d\d$/.test(code)) return `HTTP ${code}`
    return /^E[A-Z_]{2,30}$/.test(code) ? code : undefined
  } catch {
    return undefined
  }
}
