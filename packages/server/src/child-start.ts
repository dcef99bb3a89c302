import type { Config } from './config/config.ts'
import type { Secrets } from './config/secrets.ts'
import type { ChildMessage } from './kept-process.ts'
import { StartError } from './start-error.ts'

/** What a child process is told over its channel. The channel carries JSON, so the master keys go as base64. */
interface ChildStart {
  config: Config
  secrets: Omit<Secrets, 'masterKeys'> & { masterKeys: string[] }
  databaseUrl: string
}

export function packStart(config: Config, secrets: Secrets, databaseUrl: string): ChildStart {
  return { config, secrets: { ...secrets, masterKeys: secrets.masterKeys.map((key) => key.toString('base64')) }, databaseUrl }
}

interface Running {
  port: number
  stop(): Promise<void>
}

/** Runs a part of the platform in this child process: waits to be told with what, and stops in order when it is asked to. */
export function runAsChild(start: (config: Config, secrets: Secrets, databaseUrl: string) => Promise<Running>): void {
  let running: Running | undefined
  const tell = (message: ChildMessage) => process.send?.(message)
  process.once('message', ({ config, secrets, databaseUrl }: ChildStart) => {
    const masterKeys = secrets.masterKeys.map((key) => Buffer.from(key, 'base64')) as [Buffer, ...Buffer[]]
    start(config, { ...secrets, masterKeys }, databaseUrl).then(
      (started) => {
        running = started
        tell({ listening: started.port })
      },
      (error: Error) => {
        if (!(error instanceof StartError)) console.error(error)
        tell({ failed: error.message })
        process.exit(1)
      },
    )
  })
  const stop = () => {
    void (running?.stop() ?? Promise.resolve()).finally(() => process.exit(0))
  }
  process.once('SIGTERM', stop)
  // Ctrl-C reaches the whole process group: the parent decides when its children stop.
  process.on('SIGINT', () => undefined)
  // Without its parent nobody could stop it.
  process.once('disconnect', stop)
}
