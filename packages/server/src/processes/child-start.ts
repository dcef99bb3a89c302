import type { Config } from '#config/config.ts'
import type { Secrets } from '#config/secrets.ts'
import type { ChildMessage } from './supervise-process.ts'
import { StartError } from '#errors/start-error.ts'

const stopTimeoutMs = 9_500

/** What a child process is told over its channel. The channel carries JSON, so the master keys go as base64. */
interface ChildStart {
  config: Config
  secrets: Omit<Secrets, 'masterKeys'> & { masterKeys: [string, ...string[]] }
  databaseUrl: string
}

export function packStart(config: Config, secrets: Secrets, databaseUrl: string): ChildStart {
  const [first, ...others] = secrets.masterKeys
  const encode = (key: Buffer) => key.toString('base64')
  return { config, secrets: { ...secrets, masterKeys: [encode(first), ...others.map(encode)] }, databaseUrl }
}

interface Running {
  port: number
  stop(): Promise<void>
}

/**
 * Runs a part of the platform in this child process: waits to be told with what, and stops in order when it is asked
 * to.
 */
export function runAsChild(start: (config: Config, secrets: Secrets, databaseUrl: string) => Promise<Running>): void {
  let running: Running | undefined
  const tell = (message: ChildMessage) => process.send?.(message)
  process.once('message', ({ config, secrets, databaseUrl }: ChildStart) => {
    const [first, ...others] = secrets.masterKeys
    const decode = (key: string) => Buffer.from(key, 'base64')
    start(config, { ...secrets, masterKeys: [decode(first), ...others.map(decode)] }, databaseUrl).then(
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
  let stopping = false
  process.once('SIGTERM', () => {
    stopping = true
    // Whatever hangs, an end that was asked for comes, also when the parent is no longer there to insist.
    setTimeout(() => process.exit(0), stopTimeoutMs).unref()
    void (running?.stop() ?? Promise.resolve()).finally(() => process.exit(0))
  })
  // Ctrl-C reaches the whole process group: the parent decides when its children stop.
  process.on('SIGINT', () => undefined)
  // The parent was killed. Nobody could stop this process any more, and the next start needs its port: what is under
  // way ends as in any other crash, and is taken up like after one.
  process.once('disconnect', () => stopping || process.exit(1))
}
