import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { readFileIfThere } from './workspace.ts'

/** The file in the archive that names the commit, because the archive has no git repository. */
export const COMMIT_FILE = 'COMMIT'

/** The commit of a source tree that is neither a git checkout nor an archive. */
export const UNKNOWN_COMMIT = 'unknown'

const run = promisify(execFile)

/** The commit that is checked out; undefined if the root is not that of a git repository, or git is not installed. */
export async function findHead(root: string): Promise<string | undefined> {
  const answer = await git(root, ['rev-parse', '--show-cdup', '--verify', '--end-of-options', 'HEAD^{commit}'])
  const [up, commit] = answer?.toString().split('\n') ?? []
  // A path upwards: the root is inside another repository.
  return up === '' && commit ? commit : undefined
}

/** The bytes of a file in a commit. */
export async function readFromCommit(root: string, commit: string, path: string): Promise<Buffer | undefined> {
  return git(root, ['cat-file', 'blob', `${commit}:${path}`])
}

/**
 * The paths of the files that differ from the commit. Compares bytes, because git may ignore a file or assume that
 * it is unchanged.
 */
export async function findModified(root: string, commit: string, files: ReadonlyMap<string, Uint8Array>): Promise<string[]> {
  const tree = (await git(root, ['ls-tree', '-r', '-z', '--full-tree', commit]))?.toString() ?? ''
  const ids = new Map(
    tree.split('\0').map((row) => {
      const [meta = '', path = ''] = row.split('\t')
      return [path, meta.split(' ')[2]]
    }),
  )
  return [...files].filter(([path, bytes]) => blobId(bytes, ids.get(path)?.length) !== ids.get(path)).map(([path]) => path)
}

/** The commit that an archive names; undefined if this is not an archive. */
export async function readCommitFile(root: string): Promise<string | undefined> {
  const text = (await readFileIfThere(join(root, COMMIT_FILE)))?.toString().trim()
  if (text === undefined) return undefined
  if (!/^(?:(?:[0-9a-f]{40}|[0-9a-f]{64})(?:-modified)?|unknown)$/.test(text)) throw new Error(`${COMMIT_FILE} names no commit`)
  return text
}

function blobId(bytes: Uint8Array, hexLength = 40): string {
  const hash = createHash(hexLength === 64 ? 'sha256' : 'sha1')
  return hash.update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
}

/**
 * Runs git; undefined if it fails or is not installed. A tree of another user is trusted, because git only reads
 * objects here.
 */
async function git(root: string, args: readonly string[]): Promise<Buffer | undefined> {
  try {
    const options = { cwd: root, encoding: 'buffer' as const, maxBuffer: 64 * 1024 * 1024 }
    const { stdout } = await run('git', ['-c', 'safe.directory=*', ...args], options)
    return stdout
  } catch {
    return undefined
  }
}
