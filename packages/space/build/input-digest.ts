import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

const ROOT_FILES = ['package.json', 'package-lock.json', 'tsconfig.json', 'LICENSE', 'COMMIT']
/**
 * Includes more than goes into the bundle, so that no new file is missed. The bundle may not import the last three
 * packages.
 */
const LEFT_OUT = new Set(['node_modules', 'dist', 'testing', 'server', 'cli', 'client'])

/** A hash that changes with every file that may go into the build. Takes about 20 ms. */
export async function digestInputs(root: string): Promise<string> {
  const paths = [...ROOT_FILES]
  await listInto(root, 'packages', paths)
  const hashes: string[] = []
  for (const path of paths.sort()) hashes.push(await hashFile(root, path))
  return createHash('sha256').update(hashes.join('\n')).digest('hex')
}

async function listInto(root: string, folder: string, paths: string[]): Promise<void> {
  const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => [])
  await Promise.all(
    entries.map(async (entry) => {
      if (LEFT_OUT.has(entry.name)) return
      const path = `${folder}/${entry.name}`
      if (entry.isDirectory()) await listInto(root, path, paths)
      else if (!entry.name.endsWith('.test.ts')) paths.push(path)
    }),
  )
}

async function hashFile(root: string, path: string): Promise<string> {
  const bytes = await readFile(join(root, path)).catch(() => undefined)
  return `${path} ${bytes ? createHash('sha256').update(bytes).digest('hex') : 'absent'}`
}
