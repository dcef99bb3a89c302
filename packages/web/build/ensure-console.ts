import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify, stripVTControlCharacters } from 'node:util'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Everything that the app may be built from. */
const sources = [
  'package-lock.json',
  'packages/web/package.json',
  'packages/web/vite.console.config.ts',
  'packages/web/build/one-first-file.ts',
  'packages/web/tsconfig.json',
  'packages/web/src/console',
  'packages/web/src/space',
  'packages/web/src/share',
  'packages/client/src',
  'packages/contract/src',
  'packages/room-client/src',
  'packages/sealing/src',
]

/** The folder of the built console: index.html, and assets/ with files that are named after their content. */
export const consoleFolder = fileURLToPath(new URL('../dist/console', import.meta.url))
/** The digest of the sources of that build. */
export const consoleDigestFile = fileURLToPath(new URL('../dist/console.sha256', import.meta.url))

/**
 * Builds the console if it is missing or out of date, in a separate process, because bundlers keep threads and memory.
 * A build takes about 2 s, the check 20 ms.
 */
export async function ensureConsole(): Promise<void> {
  const recorded = await readFile(consoleDigestFile, 'utf8').catch(() => undefined)
  if (recorded?.trim() === (await digestConsole(root))) return
  try {
    await run(process.execPath, [fileURLToPath(new URL('./build-console.ts', import.meta.url))])
  } catch (error) {
    const { stderr } = error as { stderr?: string }
    const reason = stripVTControlCharacters(stderr?.trim() || String(error))
    throw new Error(`the console cannot be built (npm run build): ${reason}`, { cause: error })
  }
}

/** A hash that changes with every file that the console may be built from. `tree` is the root of a checkout. */
export async function digestConsole(tree: string): Promise<string> {
  const paths: string[] = []
  for (const source of sources) await listInto(tree, source, paths)
  const hashes = await Promise.all(paths.sort().map(async (path) => `${path} ${sha256(await readFile(join(tree, path)))}`))
  return sha256(hashes.join('\n'))
}

async function listInto(tree: string, path: string, paths: string[]): Promise<void> {
  const entries = await readdir(join(tree, path), { withFileTypes: true }).catch(() => undefined)
  if (!entries) {
    paths.push(path)
    return
  }
  for (const entry of entries) {
    if (entry.name === 'testing' || /\.test\.tsx?$/.test(entry.name)) continue
    await listInto(tree, `${path}/${entry.name}`, paths)
  }
}

function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}
