import type { Config } from '#config/config.ts'
import type { Secrets } from '#config/secrets.ts'
import type { MetricFamily } from '#http/metric-families.ts'
import type { Metrics } from '#http/metrics.ts'
import { MetricsChannel, parentTimeoutMs } from './metrics/metrics-channel.ts'
import { unpackStart, type StartMessage } from './start-message.ts'
import type { ChildMessage } from './supervise-process.ts'
import { ApiError } from '#errors/api-error.ts'
import { messageOf } from '#errors/caught.ts'
import { StartError } from '#errors/start-error.ts'

const stopTimeoutMs = 9_500

interface Running {
  port: number
  metrics: Metrics
  stop(): Promise<void>
}

/**
 * Runs a part of the platform in this child process: waits for the start message, and stops in order when the parent
 * asks.
 */
export function runAsChild(start: (config: Config, secrets: Secrets, databaseUrl: string) => Promise<Running>): void {
  let running: Running | undefined
  const tell = (message: ChildMessage) => process.send?.(message)
  const channel = new MetricsChannel(process, async () => running?.metrics.collect() ?? [])
  process.once('message', (message: StartMessage) => {
    const { config, secrets, databaseUrl } = unpackStart(message)
    start(config, secrets, databaseUrl).then(
      (started) => {
        running = started
        started.metrics.readAll = () => askParent(channel)
        tell({ listening: started.port })
      },
      async (error: unknown) => {
        // Loaded only here, because it loads the embedded PostgreSQL.
        const { explainRefusal } = await import('./prepare-database.ts')
        const reason = explainRefusal(error, databaseUrl)
        if (!(reason instanceof StartError)) console.error(reason)
        tell({ failed: messageOf(reason) })
        process.exit(1)
      },
    )
  })
  let stopping = false
  process.once('SIGTERM', () => {
    stopping = true
    // If the shutdown hangs, the process exits after a timeout, even if the parent no longer exists.
    setTimeout(() => process.exit(0), stopTimeoutMs).unref()
    void (running?.stop() ?? Promise.resolve()).finally(() => process.exit(0))
  })
  // Ctrl-C reaches the whole process group, but the parent decides when its children stop.
  process.on('SIGINT', () => undefined)
  // The parent was killed, so nothing could stop this process later, and the next start needs its port. It exits at
  // once: work in progress is recovered as after any crash.
  process.once('disconnect', () => stopping || process.exit(1))
}

/** The counters of this process alone would look like a fall of their sum, so they are no answer. */
async function askParent(channel: MetricsChannel): Promise<MetricFamily[]> {
  const families = await channel.ask(parentTimeoutMs)
  if (families) return families
  throw new ApiError('unavailable', { message: 'The process that adds up the metrics does not answer.', retryAfterSeconds: 1 })
}
