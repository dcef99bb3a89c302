import cluster, { type Worker } from 'node:cluster'
import { fileURLToPath } from 'node:url'
import { Backoff } from '@atrium/traffic/backoff'
import { LeaseCounter } from '@atrium/traffic/lease-counter'
import type { Config } from '#config/config.ts'
import type { Secrets } from '#config/secrets.ts'
import { MetricsChannel, isMetricsMessage } from './metrics/metrics-channel.ts'
import type { MetricsHub } from './metrics/metrics-hub.ts'
import { packStart } from './start-message.ts'
import { memoryEnvironment, restartWaits, type ChildMessage } from './supervise-process.ts'
import { spawnUntilEnd } from './last-words.ts'
import { answerLeases } from '#ports/rate-limits/answer-leases.ts'
import { isLeaseAsk } from '#ports/rate-limits/primary-messages.ts'
import { StartError } from '#errors/start-error.ts'

const stopTimeoutMs = 9_500

/**
 * Runs several API processes on one port, and counts the rate limits for all of them. A process that dies is
 * replaced.
 */
export async function startWorkers(config: Config, secrets: Secrets, databaseUrl: string, hub: MetricsHub, count: number) {
  const exec = fileURLToPath(new URL('./api-process.ts', import.meta.url))
  cluster.setupPrimary({ exec, args: [], stdio: ['ignore', 'inherit', 'pipe', 'ipc'] })
  const start = packStart(config, secrets, databaseUrl)
  const counter = new LeaseCounter()
  let stopping = false

  /** `backoff` belongs to one place of the cluster; a replacement takes it over. */
  const fork = (backoff: Backoff): Promise<number> =>
    new Promise((resolve, reject) => {
      let refusal: string | undefined
      const spawn = () => cluster.fork(memoryEnvironment)
      const worker = spawnUntilEnd(spawn, (how) => {
        reject(new StartError(`an API process did not start: it ${how}`))
        if (stopping) return
        const waitMs = backoff.failed()
        const again = `starting another in ${(waitMs / 1_000).toFixed(1)} s`
        console.error(`atrium: an API process ${refusal === undefined ? how : `did not start: ${refusal}`}; ${again}`)
        setTimeout(() => stopping || void fork(backoff).catch(() => undefined), waitMs)
      })
      if (!worker) return
      // A process that dies before it reads this is detected by its exit.
      worker.once('online', () => worker.send(start))
      worker.on('message', (message: unknown) => {
        if (isMetricsMessage(message)) return
        if (isLeaseAsk(message)) return void worker.send(answerLeases(counter, message), () => undefined)
        const state = message as ChildMessage
        if ('failed' in state) {
          refusal = state.failed
          return reject(new StartError(refusal))
        }
        backoff.succeeded()
        // A request for /metrics reaches one process, and the answer covers all of them.
        const channel = new MetricsChannel(worker, hub.collect)
        worker.once(
          'exit',
          hub.add(() => channel),
        )
        resolve(state.listening)
      })
    })

  const stop = async () => {
    stopping = true
    await Promise.all(livingWorkers().map(stopWorker))
  }
  try {
    const [port] = await Promise.all(Array.from({ length: count }, () => fork(new Backoff(restartWaits))))
    return { port: port ?? config.port, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

function livingWorkers(): Worker[] {
  return Object.values(cluster.workers ?? {}).flatMap((worker) => (worker && !worker.isDead() ? [worker] : []))
}

function stopWorker(worker: Worker): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => worker.process.kill('SIGKILL'), stopTimeoutMs)
    worker.once('exit', () => {
      clearTimeout(timer)
      resolve()
    })
    worker.process.kill('SIGTERM')
  })
}
