import { setTimeout as delay } from 'node:timers/promises'

export interface PacedLoad {
  /** What was measured since the last call, by kind. */
  take(): Record<string, Measured>
  stop(): Promise<void>
}

interface Measured {
  calls: number
  failed: number
  /** Milliseconds of the calls that succeeded. */
  p50: number
  p99: number
}

interface Caller {
  kind: string
  /** Resolves to whether it succeeded. */
  call(): Promise<boolean>
  pauseMs: number
}

/** Callers that call one after the other with a pause in between, and how long that takes. */
export function startPacedLoad(callers: Caller[]): PacedLoad {
  let stopped = false
  let times = new Map<string, { ms: number[]; failed: number }>()
  const run = async ({ kind, call, pauseMs }: Caller) => {
    while (!stopped) {
      const startedAt = performance.now()
      const succeeded = await call()
      const ms = performance.now() - startedAt
      const of = times.get(kind) ?? { ms: [], failed: 0 }
      times.set(kind, of)
      if (succeeded) of.ms.push(ms)
      else of.failed++
      await delay(pauseMs)
    }
  }
  const running = Promise.all(callers.map(run))
  // Reported by stop().
  running.catch(() => undefined)
  return {
    take: () => {
      const taken = times
      times = new Map()
      return Object.fromEntries([...taken].map(([kind, { ms, failed }]) => [kind, measure(ms, failed)]))
    },
    stop: async () => {
      stopped = true
      await running
    },
  }
}

function measure(ms: number[], failed: number): Measured {
  const sorted = ms.toSorted((a, b) => a - b)
  const at = (share: number) => Math.round((sorted[Math.floor(sorted.length * share)] ?? 0) * 10) / 10
  return { calls: sorted.length + failed, failed, p50: at(0.5), p99: at(0.99) }
}
