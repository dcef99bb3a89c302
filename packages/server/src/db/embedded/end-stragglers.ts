import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import path from 'node:path'

/**
 * Ends the sessions of a killed postmaster. A session notices the end of its postmaster only when it waits for
 * something. A session in a long query holds the shared memory until then, and PostgreSQL cannot start. The sessions
 * are found by their working directory, which is the data folder, and they can no longer commit. Without /proc, the
 * next attempts to start wait for them.
 */
export function endStragglers(folder: string): number {
  if (process.platform !== 'linux') return 0
  let ended = 0
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name) || !isStraggler(name, folder)) continue
    try {
      process.kill(Number(name), 'SIGKILL')
      ended++
    } catch {
      // The process has ended meanwhile.
    }
  }
  return ended
}

/**
 * A session, identified by its process title, whose parent is not a postmaster. Sessions that are just starting do not
 * count.
 */
function isStraggler(pid: string, folder: string): boolean {
  try {
    if (programOf(pid) !== 'postgres' || readlinkSync(`/proc/${pid}/cwd`) !== folder) return false
    if (!readFileSync(`/proc/${pid}/cmdline`, 'latin1').startsWith('postgres: ')) return false
    const parent = /^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return parent !== undefined && programOf(parent) !== 'postgres'
  } catch {
    // Another user's, or no longer there.
    return false
  }
}

function programOf(pid: string): string | undefined {
  try {
    return path.basename(readlinkSync(`/proc/${pid}/exe`)).replace(/ \(deleted\)$/, '')
  } catch {
    return undefined
  }
}
