import { fork, type ChildProcess } from 'node:child_process'
import { Backoff, type BackoffOptions } from '@atrium/traffic/backoff'
import { onceEnded } from './last-words.ts'
import { StartError } from '#errors/start-error.ts'

const stopTimeoutMs = 9_000
/** What dies at once is started less and less often; what ran for a while is replaced soon. */
export const restartWaits: BackoffOptions = { firstMs: 500, maxMs: 30_000, healthyMs: 10_000 }

/** What a child says once: that it is up, or why it cannot be. */
export type ChildMessage = { listening: number } | { failed: string }

interface SuperviseOptions {
  /** For messages: the Space service. */
  name: string
  path: string
  env: NodeJS.ProcessEnv
  /** Options of Node. Absent: those of this process. */
  execArgv?: readonly string[]
  /**
   * Sent to it when it is there: those made at the first start are in no environment, which other programs of the user
   * may read.
   */
  start?: object
  waits?: BackoffOptions
  log?: (line: string) => void
}

export interface SupervisedProcess {
  stop(): Promise<void>
}

/** Runs a program as a process of its own, and replaces it when it dies. */
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
  let restart: NodeJS.Timeout | undefined
  let started = false
  let stopping = false

  const launch = (): Promise<void> =>
    new Promise((resolve, reject) => {
      child = fork(path, [], { env, execArgv: [...execArgv], stdio: ['ignore', 'inherit', 'pipe', 'ipc'] })
      // One that dies before it has read this is told by its exit: here the error would end this process.
      child.on('error', reject)
      if (start) child.send(start, () => undefined)
      child.once('message', (message: ChildMessage) => {
        if ('failed' in message) return reject(new StartError(message.failed))
        backoff.succeeded()
        resolve()
      })
      onceEnded(child, (how) => {
        reject(new StartError(`${name} did not start: it ${how}`))
        if (stopping || !started) return
        const waitMs = backoff.failed()
        const again = `starting it again in ${(waitMs / 1_000).toFixed(1)} s`
        log(`atrium: ${name} ${how}; ${again}`)
        restart = setTimeout(() => void launch().catch(() => undefined), waitMs).unref()
      })
    })

  await launch()
  started = true
  return {
    stop: async () => {
      stopping = true
      clearTimeout(restart)
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = new Promise((resolve) => child.once('exit', resolve))
      const patience = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs)
      child.kill('SIGTERM')
      await ended
      clearTimeout(patience)
    },
  }
}
