import { readFileSync } from 'node:fs'
import type { Installation } from './installation.ts'

interface Sample {
  at: number
  /** Resident MiB by script. */
  mib: Map<string, number>
}

export interface MemoryWatch {
  stop(): void
  /** One line per process: its memory over time, and whether it grew. */
  report(): { text: string; grew: string[] }
}

const intervalMs = 5_000
const columns = 12
/** How much more memory a process may have in the last quarter than in the second. */
const allowed = { factor: 1.2, mib: 24 }

export function watchMemory(installation: Installation): MemoryWatch {
  const samples: Sample[] = []
  const timer = setInterval(() => {
    const mib = new Map<string, number>()
    for (const { pid, name } of installation.processes()) mib.set(name, (mib.get(name) ?? 0) + residentMib(pid))
    samples.push({ at: Date.now(), mib })
  }, intervalMs)
  return {
    stop: () => clearInterval(timer),
    report: () => {
      const names = [...new Set(samples.flatMap(({ mib }) => [...mib.keys()]))].toSorted()
      const grew: string[] = []
      const lines = names.map((name) => {
        const series = samples.map(({ mib }) => mib.get(name) ?? 0)
        const part = (n: number, of: number) =>
          median(series.slice(Math.floor((n * series.length) / of), Math.ceil(((n + 1) * series.length) / of)))
        const [second, last] = [part(1, 4), part(3, 4)]
        if (last > Math.max(second * allowed.factor, second + allowed.mib)) grew.push(`${name}: ${second} → ${last} MiB`)
        const shown = Array.from({ length: columns }, (_, i) => part(i, columns))
        return `${name.padEnd(28)} ${shown.map((value) => String(value).padStart(5)).join('')}  peak ${Math.max(...series)}`
      })
      return { text: lines.join('\n'), grew }
    },
  }
}

function residentMib(pid: number): number {
  try {
    return Math.round(Number(/^VmRSS:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024)
  } catch {
    return 0
  }
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
}
