import type { Collect, MetricFamily } from '#http/metric-families.ts'
import type { MetricsSource } from './metrics-hub.ts'

/** Asks the process at the other end for its metrics. The answer has the same id. */
interface MetricsAsk {
  metricsAsk: { id: number }
}

interface MetricsAnswer {
  /** Without families: they could not be collected. */
  metricsAnswer: { id: number; families?: MetricFamily[] | undefined }
}

/** The end of a channel between a process and its child: `process`, a child process, or a worker of the cluster. */
interface Port {
  send?(message: MetricsAsk | MetricsAnswer, sent: (error: Error | null) => void): boolean
  on(event: 'message', listener: (message: unknown) => void): unknown
}

/** A process that does not answer within this time counts as silent. */
const timeoutMs = 2_000
/** A process that asks its parent waits until the parent has given up those that do not answer. */
export const parentTimeoutMs = timeoutMs + 1_000

export function isMetricsMessage(message: unknown): message is MetricsAsk | MetricsAnswer {
  return typeof message === 'object' && message !== null && ('metricsAsk' in message || 'metricsAnswer' in message)
}

/** Exchanges metrics over a channel, in both directions. */
export class MetricsChannel implements MetricsSource {
  readonly #port: Port
  readonly #waiting = new Map<number, (families: MetricFamily[] | undefined) => void>()
  #lastId = 0

  /** `answer` returns the metrics for the other end; absent: requests of the other end are not answered. */
  constructor(port: Port, answer?: Collect) {
    this.#port = port
    port.on('message', (message) => {
      if (!isMetricsMessage(message)) return
      if ('metricsAnswer' in message) this.#waiting.get(message.metricsAnswer.id)?.(message.metricsAnswer.families)
      else if (answer) void this.#answer(message.metricsAsk.id, answer)
    })
  }

  /** undefined: the other end has ended, could not collect them, or does not answer in time. */
  ask(withinMs = timeoutMs): Promise<MetricFamily[] | undefined> {
    const id = ++this.#lastId
    return new Promise((resolve) => {
      const settle = (families: MetricFamily[] | undefined) => {
        clearTimeout(timer)
        this.#waiting.delete(id)
        resolve(families)
      }
      const timer = setTimeout(settle, withinMs, undefined).unref()
      this.#waiting.set(id, settle)
      this.#send({ metricsAsk: { id } }, () => settle(undefined))
    })
  }

  async #answer(id: number, answer: Collect): Promise<void> {
    const families = await answer().catch(() => undefined)
    this.#send({ metricsAnswer: { id, families } }, () => undefined)
  }

  /** A channel that is closed throws or reports the error, depending on when it was closed. */
  #send(message: MetricsAsk | MetricsAnswer, onError: () => void): void {
    try {
      this.#port.send?.(message, (error) => error && onError())
    } catch {
      onError()
    }
  }
}
