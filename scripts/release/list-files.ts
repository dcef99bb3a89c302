import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Top folders that a server and its operator need. */
const folders = ['deploy', 'docs', 'examples', 'migrations', 'openapi', 'packages']
const files = new Set([
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'SECURITY.md',
  'package-lock.json',
  'package.json',
  'scripts/demo.ts',
  'tsconfig.json',
])
/** `scripts/pack` is part of what /downloads compares with the packages that it serves. */
const scripts = ['scripts/demo/', 'scripts/pack/']
const isTest = /\.test\.tsx?$|\/testing\/|\/tests\//

/**
 * Returns the files of a release, sorted: those that git tracks and those that are new and not ignored, without tests
 * and what only developers use.
 *
 * @throws outside of a git repository.
 */
export async function listFiles(root: string): Promise<string[]> {
  const { stdout } = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'], {
    cwd: root,
    maxBuffer: 64 * 1024 * 1024,
  })
  return stdout.split('\0').filter(isReleased).toSorted()
}

/** Whether a file of the repository belongs to the release. */
function isReleased(path: string): boolean {
  const isNeeded =
    files.has(path) ||
    folders.some((folder) => path.startsWith(`${folder}/`)) ||
    scripts.some((folder) => path.startsWith(folder))
  return isNeeded && !isTest.test(path)
}
