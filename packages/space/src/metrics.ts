import { monitorEventLoopDelay } from 'node:perf_hooks'

/** One metric with its values, in the form in which the supervisor adds metrics up. */
interface Family {
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram'
  aggregator: 'sum' | 'max'
  values: { metricName?: string; labels: Record<string, string | number>; value: number }[]
}

interface Timing {
  count: number
  seconds: number
  /** How many took at most as long as the bound at the same index. */
  buckets: number[]
}

const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const role = 'space'

/** The counters of the service. They contain numbers and the names of ops, and nothing about a room or a caller. */
export class SpaceMetrics {
  readonly #answers = new Map<string, number>()
  readonly #timings = new Map<string, Timing>()
  readonly #delay = monitorEventLoopDelay({ resolution: 50 })
  readonly #gauges: Record<string, { help: string; read: () => number }>

  /** `gauges`: values that are read on demand, by the suffix of their name. */
  constructor(gauges: Record<string, { help: string; read: () => number }>) {
    this.#gauges = gauges
    this.#delay.enable()
  }

  /** `op`: an op of the service, or `other`. `outcome`: `ok` or the name of the error. */
  answered(op: string, outcome: string, seconds: number): void {
    const key = `${op} ${outcome}`
    this.#answers.set(key, (this.#answers.get(key) ?? 0) + 1)
    const timing = this.#timings.get(op) ?? { count: 0, seconds: 0, buckets: bounds.map(() => 0) }
    this.#timings.set(op, timing)
    timing.count++
    timing.seconds += seconds
    timing.buckets = timing.buckets.map((below, i) => (seconds <= (bounds[i] ?? 0) ? below + 1 : below))
  }

  collect(): Family[] {
    const answers = [...this.#answers].map(([key, value]) => {
      const [op = '', outcome = ''] = key.split(' ')
      return { labels: { op, outcome, role }, value }
    })
    const timings = [...this.#timings].flatMap(([op, timing]) => timingValues(op, timing))
    const { user, system } = process.cpuUsage()
    const delayP99 = this.#delay.percentile(99) / 1e9
    this.#delay.reset()
    const gauges = Object.entries(this.#gauges).map(([name, { help, read }]) => gauge(name, help, read()))
    return [
      family('atrium_space_requests_total', 'Calls of the Space endpoint, by op and outcome.', 'counter', answers),
      family('atrium_space_request_duration_seconds', 'Time that calls of the Space endpoint took.', 'histogram', timings),
      gauge('event_loop_delay_p99_seconds', 'Delay of the event loop since the last collection, 99th percentile.', delayP99),
      gauge('resident_memory_bytes', 'Memory of the process.', process.memoryUsage.rss()),
      family('atrium_space_cpu_seconds_total', 'Processor time of the process.', 'counter', [
        { labels: { role }, value: (user + system) / 1e6 },
      ]),
      ...gauges,
    ]
  }
}

function timingValues(op: string, { count, seconds, buckets }: Timing): Family['values'] {
  const name = 'atrium_space_request_duration_seconds'
  const bucket = (le: number | string, value: number) => ({ metricName: `${name}_bucket`, labels: { le, op, role }, value })
  return [
    ...bounds.map((bound, i) => bucket(bound, buckets[i] ?? 0)),
    bucket('+Inf', count),
    { metricName: `${name}_sum`, labels: { op, role }, value: seconds },
    { metricName: `${name}_count`, labels: { op, role }, value: count },
  ]
}

function gauge(name: string, help: string, value: number): Family {
  return family(`atrium_space_${name}`, help, 'gauge', [{ labels: { role }, value: Number.isFinite(value) ? value : 0 }])
}

function family(name: string, help: string, type: Family['type'], values: Family['values']): Family {
  return { name, help, type, aggregator: type === 'gauge' ? 'max' : 'sum', values }
}
