import { Gauge, type Registry } from '#libraries/prom-client.js'
import { LoopDelay } from './loop-delay.ts'

/**
 * Replaces prom-client's metrics of the event loop's delay, which wake a process at rest for each sample. Names, meaning
 * and units are the same, but the 99th percentile of several processes is that of the slowest.
 */
export function watchLoop(registry: Registry, resolutionMs: number): void {
  const delay = new LoopDelay(resolutionMs)
  const gauge = (part: string, help: string, aggregator: 'average' | 'min' | 'max', collect?: () => void) => {
    const name = `nodejs_eventloop_lag_${part}seconds`
    registry.removeSingleMetric(name)
    return new Gauge({ name, help, aggregator, registers: [registry], ...(collect ? { collect } : {}) })
  }
  // The first one sets all, because the values are read in the order of the gauges.
  const lag = gauge('', 'Lag of event loop in seconds.', 'average', () => {
    const startMs = performance.now()
    setImmediate(() => lag.set((performance.now() - startMs) / 1_000))
    const delays = delay.take()
    min.set(delays.min)
    max.set(delays.max)
    mean.set(delays.mean)
    stddev.set(delays.stddev)
    p50.set(delays.p50)
    p90.set(delays.p90)
    p99.set(delays.p99)
  })
  const min = gauge('min_', 'The minimum recorded event loop delay.', 'min')
  const max = gauge('max_', 'The maximum recorded event loop delay.', 'max')
  const mean = gauge('mean_', 'The mean of the recorded event loop delays.', 'average')
  const stddev = gauge('stddev_', 'The standard deviation of the recorded event loop delays.', 'average')
  const percentile = (p: number, aggregator: 'average' | 'max') =>
    gauge(`p${p}_`, `The ${p}th percentile of the recorded event loop delays.`, aggregator)
  // An alert watches the 99th: the average of several processes would hide one that is blocked.
  const [p50, p90, p99] = [percentile(50, 'average'), percentile(90, 'average'), percentile(99, 'max')]
}
