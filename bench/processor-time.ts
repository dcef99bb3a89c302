import { readdirSync, readFileSync } from 'node:fs'

/** A clock tick of /proc, which is 10 ms on Linux. */
const tickUs = 10_000

interface ProcessTimes {
  parent: number
  /** Of the process itself and of the children that it waited for. */
  ticks: number
  isRoot: boolean
}

/**
 * The processor time in µs that servers have used: the processes that were started with one of these folders, and all
 * of their children. undefined where there is no /proc. Requests per second depend on what else the machine does;
 * the processor time of a request hardly does.
 */
export function processorTimeOf(...folders: string[]): number | undefined {
  const processes = readProcesses(folders)
  if (!processes) return undefined
  let ticks = 0
  for (const [pid, { ticks: own }] of processes) if (descendsFromRoot(processes, pid)) ticks += own
  return ticks * tickUs
}

function readProcesses(folders: string[]): Map<number, ProcessTimes> | undefined {
  const pids = readOr('/proc', (path) => readdirSync(path))?.filter((name) => /^\d+$/.test(name))
  if (!pids) return undefined
  return new Map(
    pids.flatMap((pid) => {
      const stat = readOr(`/proc/${pid}/stat`, readText)
      if (stat === undefined) return []
      // After the name, which may contain anything: state, parent, …; the times are fields 14 to 17 of the whole.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
      const texts = ['cmdline', 'environ'].map((file) => readOr(`/proc/${pid}/${file}`, readText))
      const isRoot = folders.some((folder) => texts.some((text) => text?.includes(folder)))
      return [[Number(pid), { parent: Number(fields[1]), ticks, isRoot }] as const]
    }),
  )
}

function descendsFromRoot(processes: Map<number, ProcessTimes>, pid: number): boolean {
  for (let at = processes.get(pid); at; at = processes.get(at.parent)) if (at.isRoot) return true
  return false
}

const readText = (path: string) => readFileSync(path, 'utf8')

/** undefined: the process has ended, or there is no /proc. */
function readOr<T>(path: string, read: (path: string) => T): T | undefined {
  try {
    return read(path)
  } catch {
    return undefined
  }
}
