import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from '#libraries/prom-client.js'
import type { Database } from '#db/database.ts'
import { silentSpan, type Span, type SpanOptions, type Tracing } from '#ports/tracing/tracing.ts'
import { watchLoop } from './loop-metrics.ts'
import { readFamilies, type Collect } from './metric-families.ts'

interface Series {
  count(): void
  time(seconds: number): void
}

/** The kinds of background work: an artifact job, a session, the delivery of an event, the call of a model. */
export type Work = 'artifact_job' | 'session' | 'webhook_delivery' | 'model_call'

const spans: Record<Work, SpanOptions> = {
  artifact_job: { kind: 'consumer' },
  session: { kind: 'consumer' },
  webhook_delivery: { kind: 'client', attributes: { 'http.request.method': 'POST' } },
  model_call: { kind: 'client', attributes: { 'gen_ai.operation.name': 'chat' } },
}

/**
 * How often the delay of the event loop is sampled; the samples include this time. Autoscaling follows the delay of the
 * API, so it is sampled finely.
 */
const loopSampleMs = { api: 10, worker: 50 }
/** prom-client has no option that switches its own samples off. */
const neverMs = 2 ** 31 - 1

/** The Prometheus metrics of this process. docs/operating/observability.md lists them. */
export class Metrics {
  readonly registry = new Registry()
  /** The metrics of this process. */
  readonly collect: Collect
  /**
   * The metrics of all processes that run together. Set by a process that starts others; otherwise those of this
   * process.
   */
  readAll: Collect
  readonly #requests: Counter<'operation' | 'status'>
  readonly #seconds: Histogram<'operation'>
  readonly #rateLimited: Counter<'policy'>
  readonly #overloaded: Counter
  readonly #work: Histogram<'work' | 'outcome'>
  readonly #working: Gauge<'work'>
  readonly #tokens: Counter<'provider' | 'direction'>
  readonly #ledgerFindings: Gauge
  readonly #ledgerCredits: Gauge
  readonly #ledgerAudited: Gauge
  readonly #sweeps: Gauge<'sweep'>
  readonly #sweepFailures: Counter<'sweep'>
  readonly #batchers: Gauge<'batcher'>
  readonly #waitingOf = new Map<string, { readonly waitingCount: number }>()
  readonly #series = new Map<string, Map<number, Series>>()
  readonly #tracing: Tracing | undefined

  constructor({ pool }: Pick<Database, 'pool'>, role: 'api' | 'worker' = 'api', tracing?: Tracing) {
    this.#tracing = tracing
    const { registry } = this
    const registers = [registry]
    this.collect = () => readFamilies(registry, role)
    this.readAll = this.collect
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: neverMs })
    watchLoop(registry, loopSampleMs[role])
    // Every process reports the same values for these; the highest is the newest.
    const shared = (name: string, help: string) => new Gauge({ name, help, registers, aggregator: 'max' })
    const counter = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
      new Counter({ name, help, labelNames, registers })
    this.#requests = counter('atrium_http_requests_total', 'Requests answered, by operation and status.', 'operation', 'status')
    this.#seconds = new Histogram({
      name: 'atrium_http_request_duration_seconds',
      help: 'Time from a request’s headers to its answer.',
      labelNames: ['operation'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    })
    this.#rateLimited = counter('atrium_rate_limit_refusals_total', 'Requests refused with 429, by policy.', 'policy')
    this.#overloaded = counter('atrium_overload_refusals_total', 'Requests refused because a queue was full or too slow.')
    this.#work = new Histogram({
      name: 'atrium_work_duration_seconds',
      help: 'Time that a unit of background work took, by outcome.',
      labelNames: ['work', 'outcome'],
      buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 1_800, 7_200],
      registers,
    })
    this.#working = new Gauge({
      name: 'atrium_work_running',
      help: 'Units of background work in progress.',
      labelNames: ['work'],
      registers,
    })
    this.#tokens = counter('atrium_model_tokens_total', 'Tokens of model calls.', 'provider', 'direction')
    this.#ledgerFindings = shared('atrium_ledger_findings', 'Inconsistencies that the last audit of the ledger found.')
    this.#ledgerCredits = shared('atrium_ledger_credits', 'Credits in circulation at the last audit.')
    this.#ledgerAudited = shared(
      'atrium_ledger_audited_timestamp_seconds',
      'Time of the last audit of the ledger; 0 before the first.',
    )
    this.#sweeps = new Gauge({
      name: 'atrium_sweep_last_run_timestamp_seconds',
      help: 'Time of the last complete run of each sweep, in any process; before the first, the start of this process.',
      labelNames: ['sweep'],
      registers,
      aggregator: 'max',
    })
    this.#sweepFailures = counter('atrium_sweep_failures_total', 'Runs of sweeps that failed.', 'sweep')
    this.#batchers = new Gauge({
      name: 'atrium_batcher_waiting',
      help: 'Inputs that wait for a batch, by batcher.',
      labelNames: ['batcher'],
      registers,
      collect: () => {
        for (const [batcher, { waitingCount }] of this.#waitingOf) this.#batchers.set({ batcher }, waitingCount)
      },
    })
    const connections = new Gauge({
      name: 'atrium_db_connections',
      help: 'Database connections, by state.',
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

  /** Counts a request that a rate limit refused. `policy` is the name of the limit. */
  rateLimited(policy: string): void {
    this.#rateLimited.inc({ policy })
  }

  overloaded(): void {
    this.#overloaded.inc()
  }

  /**
   * Counts and times a unit of work, and makes it a span where traces are on. The outcome is what `outcomeOf` says of
   * its result, or `failed` if it rejects.
   */
  measure<T>(work: Work, run: (span: Span) => Promise<T>, outcomeOf: (result: T) => string = () => 'done'): Promise<T> {
    if (!this.#tracing) return this.#time(work, () => run(silentSpan), outcomeOf)
    return this.#tracing.span(work, spans[work], (span) =>
      this.#time(
        work,
        () => run(span),
        outcomeOf,
        (outcome) => {
          span.set({ 'atrium.outcome': outcome })
          if (!['done', 'delivered', 'taken_over'].includes(outcome)) span.fail(outcome)
        },
      ),
    )
  }

  async #time<T>(
    work: Work,
    run: () => Promise<T>,
    outcomeOf: (result: T) => string,
    onOutcome?: (outcome: string) => void,
  ): Promise<T> {
    const startMs = performance.now()
    this.#working.inc({ work })
    let outcome = 'failed'
    try {
      const result = await run()
      outcome = outcomeOf(result)
      return result
    } finally {
      this.#working.dec({ work })
      this.#work.observe({ work, outcome }, (performance.now() - startMs) / 1_000)
      onOutcome?.(outcome)
    }
  }

  usedTokens(provider: string, { inputTokens, outputTokens }: { inputTokens: number; outputTokens: number }): void {
    this.#tokens.inc({ provider, direction: 'input' }, inputTokens)
    this.#tokens.inc({ provider, direction: 'output' }, outputTokens)
  }

  watchBatcher(name: string, batcher: { readonly waitingCount: number }): void {
    this.#waitingOf.set(name, batcher)
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

  sweepFailed(name: string): void {
    this.#sweepFailures.inc({ sweep: name })
  }

  /** Caches each series, because the look-up by labels costs more than the count. */
  #seriesOf(operation: string, status: number): Series {
    const found = this.#series.get(operation)?.get(status)
    if (found) return found
    const counter = this.#requests.labels({ operation, status: String(status) })
    const histogram = this.#seconds.labels({ operation })
    const series = { count: () => counter.inc(), time: (seconds: number) => histogram.observe(seconds) }
    const ofOperation = this.#series.get(operation) ?? new Map<number, Series>()
    this.#series.set(operation, ofOperation.set(status, series))
    return series
  }
}
