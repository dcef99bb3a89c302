import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Plan } from './plan.ts'
import { UsageError } from './usage-error.ts'

export interface Measurement {
  perSecond: number
  p50Ms: number
  p99Ms: number
  requests: number
}

export const connections = 64

const script = fileURLToPath(new URL('./wrk/requests.lua', import.meta.url))

export function wrkVersion(): string {
  const { error, stdout } = spawnSync('wrk', ['-v'], { encoding: 'utf8' })
  if (error) throw new UsageError('wrk is missing; install it with: apt-get install wrk')
  return /^wrk (\S+)/.exec(stdout)?.[1] ?? 'unknown'
}

/** The files from which wrk reads its requests, written once per target. */
export function writePlan(folder: string, name: string, plan: Plan): string[] {
  const file = path.join(folder, name)
  writeFileSync(`${file}.paths`, plan.paths.map((line) => `${line}\n`).join(''))
  if (plan.body) writeFileSync(`${file}.body`, plan.body)
  if (plan.bodies) writeFileSync(`${file}.bodies`, plan.bodies.map((line) => `${line}\n`).join(''))
  return [
    `method=${plan.method}`,
    `paths=${file}.paths`,
    ...(plan.body ? [`body=${file}.body`] : []),
    ...(plan.bodies ? [`bodies=${file}.bodies`] : []),
  ]
}

interface WrkRun {
  origin: string
  plan: Plan
  planArgs: string[]
  seconds: number
  signal: AbortSignal
  connectionCount?: number
}

/** Runs wrk once. Throws unless every response was a success. */
export async function runWrk({
  origin,
  plan,
  planArgs,
  seconds,
  signal,
  connectionCount = connections,
}: WrkRun): Promise<Measurement> {
  const headers = Object.entries(plan.headers ?? {}).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  const key = plan.uniqueKeys ? [`key=${crypto.randomUUID()}-`] : []
  const args = ['-t1', `-c${connectionCount}`, `-d${seconds}s`, '-s', script, ...headers, origin, '--', ...planArgs, ...key]
  const child = spawn('wrk', args, { signal, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  await once(child, 'close')
  return readResult(output)
}

function readResult(output: string): Measurement {
  const json = /^RESULT (.*)$/m.exec(output)?.[1]
  if (!json) throw new Error(`wrk printed no result:\n${output}`)
  const result = JSON.parse(json) as Record<
    'requests' | 'durationUs' | 'p50Us' | 'p99Us' | 'badStatus' | 'badSocket' | 'timeouts',
    number
  >
  const { requests, badStatus, badSocket, timeouts } = result
  if (badStatus + badSocket + timeouts > 0 || requests === 0) {
    throw new Error(
      `of ${requests} requests ${badStatus} were answered with an error, ${badSocket} lost their connection and ${timeouts} timed out`,
    )
  }
  return { requests, perSecond: requests / (result.durationUs / 1e6), p50Ms: result.p50Us / 1e3, p99Ms: result.p99Us / 1e3 }
}
