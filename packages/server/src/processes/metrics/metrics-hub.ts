import { mergeFamilies, type Collect, type MetricFamily } from '#http/metric-families.ts'

type Source = () => Promise<MetricFamily[] | undefined>

/** Adds up the metrics of this process and of all processes that it started. */
export class MetricsHub {
  readonly #sources = new Set<Source>()
  #collecting: Promise<MetricFamily[]> | undefined

  /** Adds a source. Returns a function that removes it. A source that returns undefined counts as silent. */
  add(source: Source): () => void {
    this.#sources.add(source)
    return () => this.#sources.delete(source)
  }

  /** Concurrent callers share one collection. */
  readonly collect: Collect = () => (this.#collecting ??= this.#collect().finally(() => (this.#collecting = undefined)))

  async #collect(): Promise<MetricFamily[]> {
    const answers = await Promise.all([...this.#sources].map((source) => source()))
    const told = answers.flatMap((answer) => (answer ? [answer] : []))
    const processes: MetricFamily = {
      name: 'atrium_processes',
      help: 'Processes that were asked for their metrics, by whether they answered.',
      type: 'gauge',
      aggregator: 'sum',
      values: [
        { labels: { state: 'answered' }, value: told.length },
        { labels: { state: 'silent' }, value: answers.length - told.length },
      ],
    }
    return mergeFamilies([...told, [processes]])
  }
}
