import { spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import type { ServerUser } from './server-user.ts'

export interface Watchdog {
  /** Ends the watchdog after PostgreSQL has ended. */
  dismiss(): void
}

/**
 * Node cannot make the kernel end a child with its parent, so a shell reads from a pipe. A line means a normal end.
 * The end of the pipe without a line means that the parent is gone, even after SIGKILL. Then the shell stops
 * PostgreSQL with a fast shutdown. If the disk is too slow for that within five seconds, the next start recovers from
 * the log.
 */
const script = `
read -r _ && exit 0
signal=INT
for round in 1 2 3; do
  kill -s $signal "$1" 2>/dev/null || break
  for second in 1 1 1 1 1; do
    kill -s 0 "$1" 2>/dev/null || break 2
    sleep $second
  done
  case $signal in INT) signal=QUIT ;; *) signal=KILL ;; esac
done
rm -rf -- "$2"
`

/**
 * Ends the process and removes its socket folder when this process ends in any way. Runs as the same user as
 * PostgreSQL.
 */
export function watchParent(pid: number, socketFolder: string, user: ServerUser | undefined): Watchdog {
  const child = spawn('/bin/sh', ['-c', script, 'atrium-watchdog', String(pid), socketFolder], {
    ...(user ? { uid: user.uid, gid: user.gid } : {}),
    cwd: '/',
    // A separate session, so that a signal to the process group of this process does not end the watchdog.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    // The folders of our PATH may be closed to PostgreSQL's user.
    env: { PATH: [process.env['PATH'], '/usr/bin', '/bin'].filter(Boolean).join(':') },
  })
  child.on('error', () => undefined)
  child.stdin.on('error', () => undefined)
  // It must not keep this process from ending.
  child.unref()
  ;(child.stdin as Socket).unref()
  return { dismiss: () => void child.stdin.end('done\n') }
}
