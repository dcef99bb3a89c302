import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

export interface ReleaseTree {
  folder: string
  ref: string
  remove(): Promise<void>
}

/**
 * The commit before the newest migration, or that of ATRIUM_TEST_PREVIOUS; undefined where there is no git history, as
 * in a release archive.
 */
export function findPreviousRef(): string | undefined {
  const given = process.env['ATRIUM_TEST_PREVIOUS']
  if (given) return given
  try {
    const newest = readdirSync(join(root, 'migrations'))
      .filter((name) => /^\d{4}-/.test(name))
      .toSorted()
      .at(-1)!
    const added = git('log', '-1', '--diff-filter=A', '--format=%H', '--', `migrations/${newest}`)
    return git('rev-parse', '--verify', `${added}^`)
  } catch {
    return undefined
  }
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
}

/** The files of that commit, with the packages of this checkout. */
export async function checkOut(ref: string): Promise<ReleaseTree> {
  // On the disk of this checkout, so that its packages can be linked. Not symbolically: the build of Space takes only
  // what is in its own tree.
  await mkdir(join(root, 'dist'), { recursive: true })
  const folder = await mkdtemp(join(root, 'dist', 'release-'))
  execFileSync('sh', ['-c', `git archive ${ref} | tar -x -C "$0"`, folder], { cwd: root })
  execFileSync('cp', ['-al', join(root, 'node_modules'), join(folder, 'node_modules')])
  return { folder, ref, remove: () => rm(folder, { recursive: true, force: true }) }
}
