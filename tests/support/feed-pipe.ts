import { execFileSync, spawn } from 'node:child_process'
import type { Writable } from 'node:stream'

/**
 * Makes a named pipe, and returns a stream that is written into it. Another process opens the pipe, because this one
 * could not end while the open waits for a reader.
 */
export function feedPipe(path: string): { feed: Writable; kill: () => void } {
  execFileSync('mkfifo', [path])
  const writer = spawn('sh', ['-c', 'exec cat > "$0"', path], { stdio: ['pipe', 'ignore', 'inherit'] })
  // The reader may have ended.
  const feed = writer.stdin.on('error', () => undefined)
  return { feed, kill: () => void writer.kill('SIGKILL') }
}
