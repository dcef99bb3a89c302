import { fork, type ChildProcess } from 'node:child_process'
import { StartError } from './start-error.ts'

const restartDelayMs = 500
const stopTimeoutMs = 9_000

/** What a child says once: that it is up, or why it cannot be. */
export type ChildMessage = { listening: number } | { failed: string }

interface KeptOptions {
  /** For messages: the Space service. */
  name: string
  path: string
  env: NodeJS.ProcessEnv
  /** Sent to it when it is there: those made at the first start are in no environment, which other programs of the user may read. */
  start?: object
}

export interface KeptProcess {
  stop(): Promise<void>
}

/** Runs a program as a process of its own, and replaces it when it dies. */
export async function keepProcess({ name, path, env, start }: KeptOptions): Promise<KeptProcess> {
  let child: ChildProcess
  let stopping = false

  const launch = (): Promise<void> =>
    new Promise((resolve, reject) => {
      child = fork(path, [], { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
      // One that dies before it has read this is told by its exit: here the error would end this process.
      child.on('error', reject)
      if (start) child.send(start, () => undefined)
      child.once('message', (message: ChildMessage) => {
        if ('listening' in message) resolve()
        else reject(new StartError(message.failed))
      })
      child.once('exit', (code) => {
        reject(new StartError(`${name} ended while it started (exit code ${code})`))
        if (!stopping) setTimeout(() => void (stopping || launch().catch(() => undefined)), restartDelayMs).unref()
      })
    })

  try {
    await launch()
  } catch (error) {
    stopping = true
    throw error
  }
  return {
    stop: async () => {
      stopping = true
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = new Promise((resolve) => child.once('exit', resolve))
      const patience = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs)
      child.kill('SIGTERM')
      await ended
      clearTimeout(patience)
    },
  }
}
