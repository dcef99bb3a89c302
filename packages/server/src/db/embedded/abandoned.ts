import { readdirSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'

const abandonedMs = 60 * 60 * 1_000

/**
 * Removes folders that a process made with mkdtemp and this prefix, and left behind when it was killed. Newer ones may
 * belong to another start that is under way. A start does not fail because one cannot be removed.
 */
export function removeAbandoned(prefix: string): void {
  const parent = path.dirname(prefix)
  const name = path.basename(prefix)
  try {
    for (const entry of readdirSync(parent, { withFileTypes: true })) {
      const isOurs = entry.isDirectory() && entry.name.startsWith(name) && /^\w{6}$/.test(entry.name.slice(name.length))
      const folder = path.join(parent, entry.name)
      if (isOurs && Date.now() - statSync(folder).mtimeMs > abandonedMs) rmSync(folder, { recursive: true, force: true })
    }
  } catch {
    // The next start tries again.
  }
}
