import { mergeFamilies, type Collect, type MetricFamily } from '#http/metric-families.ts'

/** One process. Another object is another process, whose counters begin at 0. */
export interface MetricsSource {
  /** undefined: it does not answer. */
  ask(): Promise<MetricFamily[] | undefined>
}

/** A place for one process after the other. */
interface Place {
  /** The process in this place; undefined while none runs. */
  current(): MetricsSource | undefined
  /** The process that answered last, and its counters and histograms then. */
  last: { source: MetricsSource; totals: MetricFamily[] } | undefined
}

/**
 * Adds up the metrics of this process and of all processes that it started. A sum of counters never falls while this
 * process runs, because Prometheus takes each fall for a restart and counts the whole new value again: a process that
 * does not answer counts with its last answer, and one that has ended counts with it for ever.
 */
export class MetricsHub {
  readonly #places = new Set<Place>()
  /** The counters and histograms of all processes that have ended, added up. */
  #ended: MetricFamily[] = []
  /** The counters and histograms that were returned last. */
  #shown: MetricFamily[] = []
  #collecting: Promise<MetricFamily[]> | undefined

  /** Adds a place. Returns a function that removes it. `current` returns undefined while no process runs there. */
  add(current: () => MetricsSource | undefined): () => void {
    const place: Place = { current, last: undefined }
    this.#places.add(place)
    return () => {
      this.#places.delete(place)
      this.#end(place)
    }
  }

  /** Adds the metrics of this process itself. */
  addOwn(collect: Collect): void {
    const own = { ask: collect }
    this.add(() => own)
  }

  /** Concurrent callers share one collection. */
  readonly collect: Collect = () => (this.#collecting ??= this.#collect().finally(() => (this.#collecting = undefined)))

  async #collect(): Promise<MetricFamily[]> {
    const answers = await Promise.all([...this.#places].map((place) => this.#ask(place)))
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
    const gauges = told.map((families) => families.filter((family) => !isTotal(family)))
    const totals = [...this.#places].map(({ last }) => last?.totals ?? [])
    this.#shown = largerOf(this.#shown, mergeFamilies([this.#ended, ...totals]))
    return mergeFamilies([this.#shown, ...gauges, [processes]])
  }

  async #ask(place: Place): Promise<MetricFamily[] | undefined> {
    const source = place.current()
    const families = await source?.ask()
    if (!source || !families) return undefined
    if (place.last?.source !== source) this.#end(place)
    // If the place was removed meanwhile, nobody reads this: the answer before it is in the sum of those that ended.
    place.last = { source, totals: families.filter(isTotal) }
    return families
  }

  #end(place: Place): void {
    if (place.last) this.#ended = mergeFamilies([this.#ended, place.last.totals])
    place.last = undefined
  }
}

function isTotal({ type }: MetricFamily): boolean {
  return type === 'counter' || type === 'histogram'
}

/**
 * The larger value of each series. Seconds that are added in another order, as when a process has ended, may give a sum
 * that is less by one last digit.
 */
function largerOf(before: MetricFamily[], now: MetricFamily[]): MetricFamily[] {
  // The first family of a name says how its values are merged.
  return mergeFamilies([before.map((family) => ({ ...family, aggregator: 'max' })), now])
}
