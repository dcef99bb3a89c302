import { readdirSync, readFileSync } from 'node:fs'

/** The API processes of `atrium start --workers`, oldest first. */
export function workerPids(primary: number): number[] {
  return childPids(primary, 'api-process.ts')
}

/** The child processes whose command line contains the script, oldest first. */
export function childPids(parent: number, script: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isChild(name, parent, script))
    .map(Number)
    .sort((a, b) => a - b)
}

function isChild(pid: string, parent: number, script: string): boolean {
  try {
    const actual = Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
    return actual === parent && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(script)
  } catch {
    // Ended since it was listed.
    return false
  }
}
