import { spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import type { ServerUser } from './server-user.ts'

export interface Watchdog {
  /** PostgreSQL has ended: there is nothing left to watch. */
  dismiss(): void
}

/**
 * Node cannot ask the kernel to end a child with its parent. So a shell waits at the end of a pipe: a line on it means that all is well, its
 * end without one that the parent is gone, even by SIGKILL. Connections are then dropped and what is committed is kept, as with every stop;
 * a disk too slow for that within five seconds leaves the rest to the recovery of the next start.
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

/** Ends the process, and removes the folder of its socket, when this process ends in whatever way. Runs as the same user as PostgreSQL. */
export function watchParent(pid: number, socketFolder: string, user: ServerUser | undefined): Watchdog {
  const child = spawn('/bin/sh', ['-c', script, 'atrium-watchdog', String(pid), socketFolder], {
    ...(user ? { uid: user.uid, gid: user.gid } : {}),
    cwd: '/',
    // Its own session: what ends this process together with its group must not end the watchdog.
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
