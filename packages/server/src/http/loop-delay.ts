import { createHistogram, performance } from 'node:perf_hooks'

/** The part of its time that a loop works, below which its delay is not worth a measurement. */
const idleBelow = 0.02
const pollIntervalMs = 1_000
/** Longer delays are recorded as this. */
const maxNs = 3_600e9

/** In seconds. A delay is the time between two samples, so it is never less than the interval. */
export interface LoopDelays {
  min: number
  max: number
  mean: number
  stddev: number
  p50: number
  p90: number
  p99: number
}

/**
 * Measures the delay of the event loop. Each sample wakes the process, which would cost a process at rest half of its
 * processor time. So a loop that worked for less than a fiftieth of the last second is not sampled: that time counts as
 * samples without delay.
 */
export class LoopDelay {
  readonly #resolutionMs: number
  readonly #sampled = createHistogram({ lowest: 1_000, highest: maxNs, figures: 2 })
  readonly #looking = setInterval(() => this.#look(), pollIntervalMs).unref()
  #sampling: NodeJS.Timeout | undefined
  #sampledAtMs = 0
  #idleMs = 0
  #lookedAtMs = performance.now()
  #used = performance.eventLoopUtilization()

  /** `resolutionMs`: the time between two samples. */
  constructor(resolutionMs: number) {
    this.#resolutionMs = resolutionMs
    this.#startSampling()
  }

  /** The delays since the last call. */
  take(): LoopDelays {
    this.#look()
    const idle = Math.round(this.#idleMs / this.#resolutionMs)
    const delays = withIdle(this.#sampled, idle, this.#resolutionMs * 1e6)
    this.#sampled.reset()
    this.#idleMs = 0
    return delays
  }

  stop(): void {
    clearInterval(this.#looking)
    clearInterval(this.#sampling)
  }

  #look(): void {
    const [nowMs, used] = [performance.now(), performance.eventLoopUtilization()]
    if (!this.#sampling) this.#idleMs += nowMs - this.#lookedAtMs
    const isIdle = performance.eventLoopUtilization(used, this.#used).utilization < idleBelow
    if (!isIdle) this.#startSampling()
    else {
      clearInterval(this.#sampling)
      this.#sampling = undefined
    }
    this.#lookedAtMs = nowMs
    this.#used = used
  }

  #startSampling(): void {
    if (this.#sampling) return
    this.#sampledAtMs = performance.now()
    this.#sampling = setInterval(() => {
      const nowMs = performance.now()
      this.#sampled.record(Math.min(maxNs, Math.max(1, Math.round((nowMs - this.#sampledAtMs) * 1e6))))
      this.#sampledAtMs = nowMs
    }, this.#resolutionMs).unref()
  }
}

type Samples = Pick<ReturnType<typeof createHistogram>, 'count' | 'min' | 'max' | 'mean' | 'stddev' | 'percentile'>

/** The delays of the samples and of `idle` further ones, which have the least delay that there can be. */
function withIdle(sampled: Samples, idle: number, leastNs: number): LoopDelays {
  const { count } = sampled
  const total = count + idle
  const least = leastNs / 1e9
  if (count === 0) return { min: least, max: least, mean: least, stddev: 0, p50: least, p90: least, p99: least }
  const percentile = (p: number) => {
    const rank = (p / 100) * total - idle
    return rank <= 0 ? least : sampled.percentile(Math.min(100, (rank / count) * 100)) / 1e9
  }
  const mean = (count * sampled.mean + idle * leastNs) / total
  const squares = count * (sampled.stddev ** 2 + sampled.mean ** 2) + idle * leastNs ** 2
  return {
    min: (idle > 0 ? Math.min(leastNs, sampled.min) : sampled.min) / 1e9,
    max: sampled.max / 1e9,
    mean: mean / 1e9,
    stddev: Math.sqrt(Math.max(0, squares / total - mean ** 2)) / 1e9,
    p50: percentile(50),
    p90: percentile(90),
    p99: percentile(99),
  }
}
