import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BuildFigures, BuiltSpace } from './build-space.ts'
import { findHead, readCommitFile } from './git-commit.ts'
import { digestInputs } from './input-digest.ts'

export const DIST = 'packages/space/dist'

/** Writes each file atomically: a start or build at the same time sees the old file or the new one. */
export async function writeDist(root: string, { bundle, sourceArchive, figures }: BuiltSpace, inputs: string): Promise<void> {
  const folder = join(root, DIST)
  await mkdir(folder, { recursive: true })
  const put = async (name: string, body: Uint8Array | string) => {
    const draft = join(folder, `.${name}.${randomUUID()}`)
    await writeFile(draft, body)
    await rename(draft, join(folder, name))
  }
  await put('space.mjs', bundle)
  await put('source.tar.gz', sourceArchive)
  await put('build.json', `${JSON.stringify(figures, null, 2)}\n`)
  await put('inputs.sha256', `${inputs}\n`)
}

/** Whether the files are complete and were built from this tree. */
export async function isDistFresh(root: string): Promise<boolean> {
  const read = (name: string) => readFile(join(root, DIST, name)).catch(() => undefined)
  const [json, bundle, archive, recorded, named, head, inputs] = await Promise.all([
    read('build.json'),
    read('space.mjs'),
    read('source.tar.gz'),
    read('inputs.sha256'),
    readCommitFile(root),
    findHead(root),
    digestInputs(root),
  ])
  if (!json || !bundle || !archive) return false
  const { gitCommit, functionCodeSha256, sourceSha256 } = JSON.parse(json.toString()) as BuildFigures
  // A release names its commit, in any repository. Without a repository and a release, the commit cannot have
  // changed.
  const commit = named?.replace('-modified', '') ?? head
  const isCommit = commit === undefined || gitCommit.replace('-modified', '') === commit
  const isWhole = functionCodeSha256 === hash(bundle) && sourceSha256 === hash(archive)
  return isWhole && isCommit && recorded?.toString().trim() === inputs
}

function hash(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64')
}
