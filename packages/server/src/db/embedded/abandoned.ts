import { lstatSync, readdirSync, rmSync } from 'node:fs'
import path from 'node:path'

const abandonedMs = 60 * 60 * 1_000

/**
 * Removes folders that a process made with mkdtemp and this prefix, and left behind when it was killed. Newer ones may
 * belong to another start that is under way. A start does not fail because one cannot be removed.
 */
export function removeAbandoned(prefix: string): void {
  const parent = path.dirname(prefix)
  const name = path.basename(prefix)
  const isOurs = (entry: string) => entry.startsWith(name) && /^\w{6}$/.test(entry.slice(name.length))
  for (const entry of namesIn(parent).filter(isOurs)) {
    const folder = path.join(parent, entry)
    try {
      const stat = lstatSync(folder)
      if (stat.isDirectory() && Date.now() - stat.mtimeMs > abandonedMs) rmSync(folder, { recursive: true, force: true })
    } catch {
      // The next start tries again.
    }
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
