import { readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** The fields of a .cpuprofile that are read here. Times are microseconds of the monotonic clock. */
interface CpuProfile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[]
  startTime: number
  samples: number[]
  timeDeltas: number[]
}

export interface SelfTime {
  name: string
  place: string
  selfUs: number
}

const repository = path.join(import.meta.dirname, '..')

/** Self time by function between two moments, the longest first. Includes V8's own entries, such as (idle). */
export function readSelfTimes(file: string, fromUs: number, toUs: number): SelfTime[] {
  const { nodes, startTime, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8')) as CpuProfile
  const entries = new Map<string, SelfTime>()
  const byNode = new Map(nodes.map(({ id, callFrame }) => [id, entryOf(entries, callFrame)]))
  let atUs = startTime
  samples.forEach((id, i) => {
    atUs += timeDeltas[i] ?? 0
    // A sample represents the time until the next one.
    const entry = byNode.get(id)
    if (entry && atUs >= fromUs && atUs < toUs) entry.selfUs += timeDeltas[i + 1] ?? 0
  })
  return [...entries.values()].filter((entry) => entry.selfUs > 0).toSorted((a, b) => b.selfUs - a.selfUs)
}

/** A function occurs in the tree once for each call path. */
function entryOf(
  entries: Map<string, SelfTime>,
  { functionName, url, lineNumber }: CpuProfile['nodes'][number]['callFrame'],
): SelfTime {
  const place = url ? `${placeOf(url)}:${lineNumber + 1}` : ''
  const key = `${functionName} ${place}`
  const entry = entries.get(key) ?? { name: functionName || '(anonymous)', place, selfUs: 0 }
  entries.set(key, entry)
  return entry
}

function placeOf(url: string): string {
  return url.startsWith('file:') ? path.relative(repository, fileURLToPath(url)).replace(/^.*node_modules\//, '') : url
}
