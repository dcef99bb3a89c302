import { execFileSync, spawn } from 'node:child_process'
import type { Writable } from 'node:stream'

/**
 * Makes a named pipe, and returns what writes into it. Another process writes, because this one could not end while it
 * waits in the system for somebody who reads the pipe.
 */
export function feedPipe(path: string): { feed: Writable; kill: () => void } {
  execFileSync('mkfifo', [path])
  const writer = spawn('sh', ['-c', 'exec cat > "$0"', path], { stdio: ['pipe', 'ignore', 'inherit'] })
  // The reader may have ended.
  const feed = writer.stdin.on('error', () => undefined)
  return { feed, kill: () => void writer.kill('SIGKILL') }
}
