import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')

export interface GeneratedFiles {
  /** Text by path from the root of the repository. */
  files: Map<string, string>
  /** What to run when a file has drifted. */
  command: string
  /** A folder with generated files only. Files that are left over in it are deleted. */
  ownFolder?: string
}

/**
 * Writes the files that differ. With --check it changes nothing: it names each file that differs, is missing or is
 * left over, and the process exits with 1.
 */
export async function writeOrCheck({ files, command, ownFolder }: GeneratedFiles): Promise<void> {
  const present = ownFolder ? await readdir(resolve(root, ownFolder)).catch(() => []) : []
  const leftOver = present.map((name) => `${ownFolder}/${name}`).filter((path) => !files.has(path))
  const differing = new Map<string, string>()
  for (const [path, text] of files) {
    if ((await readFile(resolve(root, path), 'utf8').catch(() => undefined)) !== text) differing.set(path, text)
  }
  if (process.argv.includes('--check')) {
    const drifted = [...differing.keys(), ...leftOver]
    for (const path of drifted) console.error(`${path} is not what the table says: run "${command}"`)
    if (drifted.length > 0) process.exitCode = 1
    return
  }
  for (const [path, text] of differing) {
    await mkdir(dirname(resolve(root, path)), { recursive: true })
    await writeFile(resolve(root, path), text)
    console.log(`wrote ${path}`)
  }
  for (const path of leftOver) {
    await rm(resolve(root, path))
    console.log(`removed ${path}`)
  }
}
