import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import type { Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { StartError } from '#errors/start-error.ts'
import { endStragglers } from './end-stragglers.ts'
import { lastComplaint, turnLog } from './log-file.ts'
import { assertNotInUse, isReady, parentSetting, readLockedPid, shutDown } from './running-postmaster.ts'
import type { ServerUser } from './server-user.ts'
import { watchParent } from './watchdog.ts'

const pollMs = 20
/** The time for sessions to close by themselves. */
const leavingMs = 1_000

export type PostmasterOptions = {
  postgres: string
  folder: string
  socketFolder: string
  logFile: string
  user: ServerUser | undefined
  settings: Record<string, string | number>
}

export interface Postmaster {
  /** Resolves to the reason when PostgreSQL has ended. */
  ended: Promise<string>
  stop(): Promise<void>
}

/**
 * Starts PostgreSQL and waits until it accepts connections, however long recovery takes. The signal stops it during
 * that time, and the start fails.
 */
export async function startPostmaster(options: PostmasterOptions, stopping: AbortSignal): Promise<Postmaster> {
  const { folder, logFile, socketFolder, user } = options
  const logged = turnLog(logFile)
  const reason = (code: number | null, signal: NodeJS.Signals | null) => {
    // After a kill the log contains only unrelated messages, and messages of sessions about the kill.
    if (signal) return `it was ended by ${signal}`
    return `${lastComplaint(logFile, logged) ?? `exit code ${code}`} (more in ${logFile})`
  }
  // Only if the folder is not in use, because a running postmaster also has sessions in it.
  assertNotInUse(folder)
  endStragglers(folder)
  const child = spawnPostmaster(options)
  let failure = ''
  child.once('error', (error) => (failure = error.message))
  const watchdog = child.pid === undefined ? undefined : watchParent(child.pid, socketFolder, user)
  // Waits until the watchdog runs. From then on PostgreSQL ends with this process, whatever happens.
  const gate = child.stdio[3] as Writable
  gate.on('error', () => undefined)
  gate.end('go\n')
  // process.exit() and uncaught errors leave no time to wait, but enough to send a signal.
  const stopAtExit = () => child.kill('SIGINT')
  process.once('exit', stopAtExit)
  const ended = new Promise<string>((resolve) => {
    const end = (how: string) => {
      process.off('exit', stopAtExit)
      watchdog?.dismiss()
      resolve(how)
    }
    child.once('error', (error) => end(error.message))
    child.once('exit', (code, signal) => end(reason(code, signal)))
  })
  const stop = async () => {
    if (child.pid && !hasEnded(child)) await shutDown(child.pid, () => hasEnded(child), leavingMs)
  }
  while (!isReady(folder, child.pid, socketFolder)) {
    if (stopping.aborted) await stop()
    if (hasEnded(child)) {
      await ended
      // Two starts at once: PostgreSQL's own lock lets one of them through.
      assertNotInUse(folder)
      throw new StartError(`PostgreSQL did not start: ${failure || (await ended)}`)
    }
    await delay(pollMs)
  }
  return { ended, stop }
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null
}

/** Executes PostgreSQL after a line on the pipe, and exits if the pipe is closed without one. */
const waitForGate = 'read -r _ <&3 || exit 1; exec 3<&-; exec "$@"'

function spawnPostmaster({ postgres, folder, socketFolder, logFile, user, settings }: PostmasterOptions): ChildProcess {
  const all = {
    listen_addresses: '',
    unix_socket_directories: socketFolder,
    [parentSetting]: process.pid,
    ...settings,
  }
  const args = [postgres, '-D', folder, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
  const log = openSync(logFile, 'a', 0o600)
  const child = spawn('/bin/sh', ['-c', waitForGate, 'postgres', ...args], {
    ...(user ? { uid: user.uid, gid: user.gid } : {}),
    cwd: '/',
    // Its own session: Ctrl-C in the terminal reaches atrium alone, which drains first and then stops PostgreSQL.
    detached: true,
    stdio: ['ignore', log, log, 'pipe'],
    // The environment contains secrets, so it is not inherited. A process id in a stale lock file may belong to
    // another program; PostgreSQL ignores the id in this variable, and still fails if the file names another process.
    env: { LC_ALL: 'C', TZ: 'UTC', PG_GRANDPARENT_PID: String(readLockedPid(folder) ?? 0) },
  })
  closeSync(log)
  return child
}
