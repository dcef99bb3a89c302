import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { StartError } from '#errors/start-error.ts'
import { codeOf } from '#errors/caught.ts'

const pollMs = 20
/**
 * A fast shutdown writes a checkpoint, which a slow disk may delay. After this time the next start recovers from the
 * log instead.
 */
const fastShutdownMs = 30_000

/** The setting in which a later start finds the process that started a running PostgreSQL. */
export const parentSetting = 'atrium.parent'

type RunningPostmaster = { pid: number; socketFolder: string | undefined; isOrphan: boolean }

/**
 * Stops a PostgreSQL whose atrium was killed, and throws if its atrium still runs. There is no separate lock file:
 * PostgreSQL's lock decides which process runs, and the process table, which is never stale, shows whether its parent
 * is still the same.
 */
export async function clearOrphan(folder: string, say: (line: string) => void): Promise<void> {
  const running = findPostmaster(folder)
  if (!running) return
  assertNotInUse(folder, running)
  say(`Stopping PostgreSQL (process ${running.pid}), left behind by an atrium that was killed`)
  await shutDown(running.pid, () => findPostmaster(folder)?.pid !== running.pid, 0)
  if (running.socketFolder) rmSync(running.socketFolder, { recursive: true, force: true })
}

/** The folder of its socket, if a PostgreSQL runs whose atrium runs too. */
export function findLiveSocket(folder: string): string | undefined {
  const running = findPostmaster(folder)
  return running && !running.isOrphan ? running.socketFolder : undefined
}

export function assertNotInUse(folder: string, running = findPostmaster(folder)): void {
  if (running && !running.isOrphan) {
    throw new StartError(
      `${folder} is in use by another running atrium (PostgreSQL is process ${running.pid}): stop that one, or give this one another data folder`,
    )
  }
}

/**
 * First waits for sessions of this process that are closing: pg's pool.end() resolves before they have ended, and an
 * interrupted one emits an unhandled error. Then closes all connections with a fast shutdown. As the last resort, stops
 * without a checkpoint.
 */
export async function shutDown(pid: number, hasEnded: () => boolean, graceMs: number): Promise<void> {
  const steps: [NodeJS.Signals, number][] = [
    ['SIGTERM', 0],
    ['SIGINT', graceMs],
    ['SIGQUIT', graceMs + fastShutdownMs],
  ]
  const began = performance.now()
  while (!hasEnded()) {
    const elapsedMs = performance.now() - began
    while (steps[0] && elapsedMs >= steps[0][1]) {
      sendSignal(pid, steps[0][0])
      steps.shift()
    }
    await delay(pollMs)
  }
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    // PostgreSQL has ended in the meantime.
    if (codeOf(error) !== 'ESRCH') throw error
  }
}

function findPostmaster(folder: string): RunningPostmaster | undefined {
  const pid = readLockedPid(folder)
  const found = pid === undefined ? undefined : findProcess(pid)
  // After a restart of the machine or container, the process id in the lock file may belong to another program.
  if (!found || !found.command.includes(` -D ${folder} `)) return undefined
  // recheck: a constant text and digits.
  const parent = new RegExp(`${parentSetting}=(\\d+)`).exec(found.command)?.[1]
  return {
    pid: found.pid,
    socketFolder: /unix_socket_directories=(\S+)/.exec(found.command)?.[1],
    // Linux and macOS reparent an orphan at once, so a reused process id does no harm.
    isOrphan: parent !== undefined && found.parentPid !== Number(parent),
  }
}

export function readLockedPid(folder: string): number | undefined {
  return Number(readLockLines(folder)[0]) || undefined
}

/**
 * Whether this process, with this folder for its socket, accepts connections. The process id alone does not identify
 * it: ids begin at 1 in each container, so a killed PostgreSQL often had the same one, and its lock file says `ready`.
 */
export function isReady(folder: string, pid: number | undefined, socketFolder: string): boolean {
  const lines = readLockLines(folder)
  return Number(lines[0]) === pid && lines[4] === socketFolder && lines[7]?.trim() === 'ready'
}

function readLockLines(folder: string): string[] {
  const file = path.join(folder, 'postmaster.pid')
  try {
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
  } catch (error) {
    // Removed between the two calls: PostgreSQL has just ended.
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}

/** A process that has ended but was not yet reaped has no command line and counts as gone. */
function findProcess(pid: number): { pid: number; parentPid: number; command: string } | undefined {
  try {
    if (process.platform === 'linux') {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
      const parentPid = Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
      return { pid, parentPid, command }
    }
    const line = execFileSync('ps', ['-ww', '-o', 'ppid=,command=', '-p', String(pid)], { encoding: 'utf8' }).trim()
    return { pid, parentPid: Number.parseInt(line, 10), command: line.replace(/^\d+\s+/, '') }
  } catch {
    // No such process.
    return undefined
  }
}
