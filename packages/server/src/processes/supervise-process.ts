import { fork, type ChildProcess } from 'node:child_process'
import { Backoff, type BackoffOptions } from '@atrium/traffic/backoff'
import { spawnUntilEnd } from './last-words.ts'
import { StartError } from '#errors/start-error.ts'
import { MetricsChannel } from './metrics/metrics-channel.ts'
import type { MetricsSource } from './metrics/metrics-hub.ts'

const stopTimeoutMs = 9_000
/** A process that dies at once is restarted with growing pauses; one that ran for a while is restarted soon. */
export const restartWaits: BackoffOptions = { firstMs: 500, maxMs: 30_000, healthyMs: 10_000 }

/**
 * glibc gives each thread that allocates an arena of its own, up to eight for each core, and seldom returns what an arena
 * once held. The threads of V8 allocate for moments, most of all at the start. With two arenas a process takes 1 to 5
 * MiB less. An operator may set another number.
 */
export const memoryEnvironment = { MALLOC_ARENA_MAX: process.env['MALLOC_ARENA_MAX'] ?? '2' }

/** The one message of a child: that it is ready, or why it cannot start. */
export type ChildMessage = { listening: number } | { failed: string }

interface SuperviseOptions {
  /** The name in messages, such as "the Space service". */
  name: string
  path: string
  env: NodeJS.ProcessEnv
  /** Options of Node. Absent: those of this process. */
  execArgv?: readonly string[]
  /**
   * Sent to the child when it has started. Secrets are not passed in its environment, because other programs of the
   * user may read that.
   */
  start?: object
  waits?: BackoffOptions
  log?: (line: string) => void
}

export interface SupervisedProcess {
  /** Asks the child that runs for its metrics; undefined while none runs. */
  metrics(): MetricsSource | undefined
  stop(): Promise<void>
}

/** Runs a program in a separate process, and restarts it when it dies. */
export async function superviseProcess({
  name,
  path,
  env,
  execArgv = process.execArgv,
  start,
  waits = restartWaits,
  log = console.error,
}: SuperviseOptions): Promise<SupervisedProcess> {
  const backoff = new Backoff(waits)
  let child: ChildProcess
  /** The state of the running child. */
  let metrics: MetricsChannel | undefined
  let restart: NodeJS.Timeout | undefined
  let started = false
  let stopping = false

  const launch = (): Promise<void> =>
    new Promise((resolve, reject) => {
      let refusal: string | undefined
      const spawn = () =>
        fork(path, [], {
          env: { ...env, ...memoryEnvironment },
          execArgv: [...execArgv],
          stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
        })
      const launched = spawnUntilEnd(spawn, (how) => {
        reject(new StartError(`${name} did not start: it ${how}`))
        if (stopping || !started) return
        const waitMs = backoff.failed()
        const again = `starting it again in ${(waitMs / 1_000).toFixed(1)} s`
        log(`atrium: ${name} ${refusal === undefined ? how : `did not start: ${refusal}`}; ${again}`)
        restart = setTimeout(() => void launch().catch(() => undefined), waitMs).unref()
      })
      if (!launched) return
      child = launched
      // A process that dies before it reads this is detected by its exit.
      if (start) child.send(start, () => undefined)
      child.once('message', (message: ChildMessage) => {
        if ('failed' in message) {
          refusal = message.failed
          return reject(new StartError(refusal))
        }
        backoff.succeeded()
        metrics = new MetricsChannel(launched)
        resolve()
      })
      child.once('exit', () => (metrics = undefined))
    })

  await launch()
  started = true
  return {
    metrics: () => metrics,
    stop: async () => {
      stopping = true
      clearTimeout(restart)
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = new Promise((resolve) => child.once('exit', resolve))
      const killer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs)
      child.kill('SIGTERM')
      await ended
      clearTimeout(killer)
    },
  }
}
