import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Database } from '#db/database.ts'

interface Series {
  count(): void
  time(seconds: number): void
}

/** The Prometheus metrics of this process. */
export class Metrics {
  readonly registry = new Registry()
  readonly #requests: Counter<'operation' | 'status'>
  readonly #seconds: Histogram<'operation'>
  readonly #ledgerFindings: Gauge
  readonly #ledgerCredits: Gauge
  readonly #ledgerAudited: Gauge
  readonly #sweeps: Gauge<'sweep'>
  readonly #series = new Map<string, Series>()

  constructor(db: Pick<Database, 'pool'>) {
    const { pool } = db
    const registers = [this.registry]
    collectDefaultMetrics({ register: this.registry })
    this.#requests = new Counter({
      name: 'atrium_http_requests_total',
      help: 'Requests answered, by operation and status.',
      labelNames: ['operation', 'status'],
      registers,
    })
    this.#seconds = new Histogram({
      name: 'atrium_http_request_duration_seconds',
      help: 'Time from a request’s headers to its answer.',
      labelNames: ['operation'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    })
    const gauge = (name: string, help: string) => new Gauge({ name, help, registers })
    this.#ledgerFindings = gauge('atrium_ledger_findings', 'Inconsistencies that the last audit of the ledger found.')
    this.#ledgerCredits = gauge('atrium_ledger_credits', 'Credits in circulation at the last audit.')
    this.#ledgerAudited = gauge(
      'atrium_ledger_audited_timestamp_seconds',
      'Time of the last audit of the ledger; 0 before the first.',
    )
    this.#sweeps = new Gauge({
      name: 'atrium_sweep_last_run_timestamp_seconds',
      help: 'Time of the last complete run of each sweep, in any process.',
      labelNames: ['sweep'],
      registers,
    })
    const connections = new Gauge({
      name: 'atrium_db_connections',
      help: 'Database connections of this process, by state.',
      labelNames: ['state'],
      registers,
      collect: () => {
        connections.set({ state: 'idle' }, pool.idleCount)
        connections.set({ state: 'busy' }, pool.totalCount - pool.idleCount)
        connections.set({ state: 'waited_for' }, pool.waitingCount)
      },
    })
  }

  /**
   * Counts an answer when it is handed to the socket: a listener for the end of the sending would cost more than the
   * count.
   */
  answered(operationId: string | undefined, status: number, elapsedMs: number): void {
    // Never the path, which contains ids. Unknown paths share one label, so that callers cannot add series.
    const series = this.#seriesOf(operationId ?? 'other', status)
    series.count()
    series.time(elapsedMs / 1_000)
  }

  audited({ findings, credits, provedAt }: { findings: number; credits: number; provedAt: string }): void {
    this.#ledgerFindings.set(findings)
    this.#ledgerCredits.set(credits)
    this.#ledgerAudited.set(Date.parse(provedAt) / 1_000)
  }

  /** Records the time at which any process completed a sweep. */
  swept(name: string, atMs: number): void {
    this.#sweeps.set({ sweep: name }, atMs / 1_000)
  }

  /** Caches each series, because the look-up by labels costs more than the count. */
  #seriesOf(operation: string, status: number): Series {
    const name = `${operation} ${status}`
    const found = this.#series.get(name)
    if (found) return found
    const counter = this.#requests.labels({ operation, status: String(status) })
    const histogram = this.#seconds.labels({ operation })
    const series = { count: () => counter.inc(), time: (seconds: number) => histogram.observe(seconds) }
    this.#series.set(name, series)
    return series
  }
}
