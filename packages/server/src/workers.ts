import cluster, { type Worker } from 'node:cluster'
import { fileURLToPath } from 'node:url'
import type { Config } from './config/config.ts'
import type { Secrets } from './config/secrets.ts'
import { packStart } from './child-start.ts'
import type { ChildMessage } from './kept-process.ts'
import { StartError } from './start-error.ts'

const stopTimeoutMs = 9_500
const restartDelayMs = 500

/** Runs several API processes on one port. One that dies is replaced. */
export async function startWorkers(config: Config, secrets: Secrets, databaseUrl: string, count: number) {
  cluster.setupPrimary({ exec: fileURLToPath(new URL('./worker.ts', import.meta.url)), args: [] })
  const start = packStart(config, secrets, databaseUrl)
  let stopping = false

  const fork = (): Promise<number> =>
    new Promise((resolve, reject) => {
      const worker = cluster.fork()
      // One that dies before it has read this is told by its exit: here the error would end this process.
      worker.on('error', reject)
      worker.once('online', () => worker.send(start))
      worker.once('message', (message: ChildMessage) => {
        if ('listening' in message) resolve(message.listening)
        else reject(new StartError(message.failed))
      })
      worker.once('exit', (code) => {
        reject(new StartError(`an API process ended while it started (exit code ${code})`))
        if (!stopping) setTimeout(() => !stopping && void fork().catch(() => undefined), restartDelayMs)
      })
    })

  const stop = async () => {
    stopping = true
    await Promise.all(livingWorkers().map(stopWorker))
  }
  try {
    const [port] = await Promise.all(Array.from({ length: count }, fork))
    return { port: port ?? config.port, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

function livingWorkers(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined && !worker.isDead()) as Worker[]
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
