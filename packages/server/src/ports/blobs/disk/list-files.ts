import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Keys of the files under the folder, in the order of their bytes, from the one after `after` on. Hidden names are not
 * blobs.
 */
export async function* listFiles(folder: string, prefix: string, after: string): AsyncGenerator<string> {
  const entries = await readdir(join(folder, prefix), { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    // The folder did not exist, or was removed during the walk.
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return []
    throw error
  })
  // A folder counts as its name and a slash: `a-b` comes before `a/b`, as in the full keys.
  const names = entries
    .filter((entry) => !entry.name.startsWith('.') && (entry.isFile() || entry.isDirectory()))
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
    .sort((a, b) => (a < b ? -1 : 1))
  for (const name of names) {
    const key = prefix + name
    if (!name.endsWith('/')) {
      if (key > after) yield key
    } else if (key > after || after.startsWith(key)) yield* listFiles(folder, key, after)
  }
}
