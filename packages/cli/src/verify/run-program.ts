import { spawn } from 'node:child_process'
import type { Deadline } from './deadline.ts'
import { DeadlinePassed } from './deadline.ts'
import { CheckFailed } from './report.ts'

export interface Program {
  readonly file: string
  readonly args: readonly string[]
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  readonly shell?: boolean
}

const KEPT_OUTPUT = 1_000

/**
 * Runs a program until it ends or the time is over, and then ends all its child processes. `name` is used in error
 * messages.
 */
export async function runProgram(name: string, { file, args, folder, env, shell = false }: Program, deadline: Deadline) {
  deadline.check()
  const isGroup = process.platform !== 'win32'
  const child = spawn(file, args, { cwd: folder, env, shell, detached: isGroup, stdio: ['ignore', 'pipe', 'pipe'] })
  const end = () => {
    try {
      if (child.pid !== undefined) process.kill(isGroup ? -child.pid : child.pid, 'SIGKILL')
    } catch {
      // The program has ended already.
    }
  }
  deadline.signal.addEventListener('abort', end, { once: true })
  process.once('exit', end)
  let output = ''
  const keep = (chunk: Buffer) => (output = (output + chunk.toString()).slice(-4 * KEPT_OUTPUT))
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  try {
    const code = await new Promise<number | string>((resolve) => {
      child.once('error', (error) => resolve(error.message))
      child.once('exit', (exitCode, signal) => resolve(exitCode ?? signal ?? 'unknown'))
    })
    if (deadline.signal.aborted) throw new DeadlinePassed(name)
    if (code !== 0) throw new CheckFailed(`${name} failed: ${output.trim().slice(-KEPT_OUTPUT) || code}`)
  } finally {
    // Ends its background processes.
    end()
    // A process that has left the group may hold the other ends, and would keep this one from ending.
    child.stdout.destroy()
    child.stderr.destroy()
    deadline.signal.removeEventListener('abort', end)
    process.off('exit', end)
  }
}
