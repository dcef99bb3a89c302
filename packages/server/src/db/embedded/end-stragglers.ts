import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import path from 'node:path'

/**
 * Ends what a killed postmaster left behind. Its sessions notice that it is gone once they wait for something, but one in the middle of a
 * long query holds the shared memory until then, and as long PostgreSQL refuses to start. They work in the folder of the data, and they can
 * no longer commit. Where there is no /proc, the next tries wait for them.
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
      // Ended by itself meanwhile.
    }
  }
  return ended
}

/** A session, known by its title, whose parent is no postmaster: one that is just starting must not be taken for a straggler. */
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
