import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, openSync, readFileSync, renameSync, statSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { StartError } from '../../start-error.ts'
import { assertNotInUse, isReady, parentSetting, readLockedPid, shutDown } from './running-postmaster.ts'
import type { ServerUser } from './server-user.ts'

const pollMs = 20
/** How long sessions may take to close by themselves. */
const leavingMs = 1_000
const keptLogBytes = 16 * 1024 * 1024

export type PostmasterOptions = {
  postgres: string
  folder: string
  socketFolder: string
  logFile: string
  user: ServerUser | undefined
  settings: Record<string, string | number>
  say: (line: string) => void
}

/** Starts PostgreSQL and waits until it accepts connections, however long recovery takes. */
export async function startPostmaster(options: PostmasterOptions): Promise<{ stop(): Promise<void> }> {
  const logged = turnLog(options.logFile)
  const child = spawnPostmaster(options)
  let stopping = false
  let failure = ''
  child.once('error', (error) => (failure = error.message))
  // process.exit() and uncaught errors leave no time to wait, but enough to ask.
  const stopAtExit = () => child.kill('SIGINT')
  process.once('exit', stopAtExit)
  while (!isReady(options.folder, child.pid)) {
    if (hasEnded(child)) {
      process.off('exit', stopAtExit)
      // Two starts at once: PostgreSQL's own lock lets one of them through.
      assertNotInUse(options.folder)
      throw new StartError(
        `PostgreSQL did not start: ${failure || lastComplaint(options.logFile, logged)} (more in ${options.logFile})`,
      )
    }
    await delay(pollMs)
  }
  child.once('exit', () => stopping || options.say(`PostgreSQL has stopped by itself: see ${options.logFile}`))
  return {
    async stop() {
      stopping = true
      if (child.pid && !hasEnded(child)) await shutDown(child.pid, () => hasEnded(child), leavingMs)
      process.off('exit', stopAtExit)
    },
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null
}

function spawnPostmaster({ postgres, folder, socketFolder, logFile, user, settings }: PostmasterOptions): ChildProcess {
  const all = {
    listen_addresses: '',
    unix_socket_directories: socketFolder,
    [parentSetting]: process.pid,
    ...settings,
  }
  const args = ['-D', folder, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
  const log = openSync(logFile, 'a', 0o600)
  const child = spawn(postgres, args, {
    ...(user ? { uid: user.uid, gid: user.gid } : {}),
    cwd: '/',
    // Its own session: Ctrl-C in the terminal reaches atrium alone, which drains first and then stops PostgreSQL.
    detached: true,
    stdio: ['ignore', log, log],
    // Our environment holds secrets. The number in a stale lock file may by now be another program's; PostgreSQL takes this variable
    // as "not a PostgreSQL", and still refuses if the file meanwhile names another.
    env: { LC_ALL: 'C', TZ: 'UTC', PG_GRANDPARENT_PID: String(readLockedPid(folder) ?? 0) },
  })
  closeSync(log)
  return child
}

/** Returns how long the log already is. One older log is kept, so that the two together stay small. */
function turnLog(logFile: string): number {
  const bytes = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0
  if (bytes <= keptLogBytes) return bytes
  renameSync(logFile, `${logFile}.old`)
  return 0
}

function lastComplaint(logFile: string, fromByte: number): string {
  const complaints = readFileSync(logFile)
    .subarray(fromByte)
    .toString()
    .split('\n')
    .filter((line) => /(FATAL|PANIC|ERROR|error while loading)/.test(line))
  return complaints.at(-1)?.replace(/^.*?(FATAL|PANIC|ERROR): +/, '') ?? 'it gave no reason'
}
