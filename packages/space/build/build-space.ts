import { createHash } from 'node:crypto'
import { realpath, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { APP_CONFIG, buildApp } from './app.ts'
import { type ArchiveFile, makeArchive } from './archive.ts'
import { bundleService, ENTRY } from './bundle.ts'
import { COMMIT_FILE, findHead, findModified, readCommitFile, readFromCommit, UNKNOWN_COMMIT } from './git-commit.ts'
import { type ArchiveManifests, makeManifests } from './manifests.ts'
import { collectSources, type Sources } from './sources.ts'
import { readFileIfThere } from './workspace.ts'

/** The hashes in the certificate, base64. */
export interface BuildFigures {
  readonly gitCommit: string
  readonly functionCodeSha256: string
  readonly sourceSha256: string
}

export interface BuiltSpace {
  readonly bundle: Uint8Array
  readonly sourceArchive: Uint8Array
  readonly figures: BuildFigures
  /** Paths in the archive. */
  readonly sources: readonly string[]
  /** Sources that differ from the commit. */
  readonly modified: readonly string[]
}

const BUILD_SCRIPT = 'packages/space/build/build.ts'

/** Builds the bundle and the archive of its source. `root` is a checkout, or an extracted source archive. */
export async function buildSpace(givenRoot: string): Promise<BuiltSpace> {
  // Vite and esbuild use real paths.
  const root = await realpath(givenRoot)
  const app = await buildApp(root)
  const inputs = app.inputs.map((path) => relative(root, path).split(sep).join('/'))
  const sources = await collectSources(root, [
    ENTRY,
    BUILD_SCRIPT,
    APP_CONFIG,
    'packages/space/src/embedded.d.ts',
    'LICENSE',
    // Vite reads these files.
    'tsconfig.json',
    'packages/web/tsconfig.json',
    ...inputs.filter((path) => !path.includes('node_modules/')),
  ])
  const packages = [...new Set([...sources.packages, ...inputs.flatMap(packageOf)])].sort()
  const manifests = await makeManifests({ read: (path) => readText(root, path), folders: sources.folders, packages })
  await assertInstalled(root, manifests)
  const { gitCommit, modified } = await describeCommit(root, sources, packages, manifests)
  const { code, metafile } = await bundleService(root, { gitCommit, app: app.files })
  assertCovered(sources, Object.keys(metafile.inputs))
  const archived = await listArchived(root, sources, manifests, gitCommit)
  const sourceArchive = makeArchive(archived)
  return {
    bundle: code,
    sourceArchive,
    figures: { gitCommit, functionCodeSha256: sha256(code), sourceSha256: sha256(sourceArchive) },
    sources: archived.map(({ path }) => path),
    modified,
  }
}

async function describeCommit(root: string, { files, folders }: Sources, packages: readonly string[], made: ArchiveManifests) {
  const named = await readCommitFile(root)
  if (named !== undefined) return { gitCommit: named, modified: [] }
  const commit = await findHead(root)
  if (commit === undefined) return { gitCommit: UNKNOWN_COMMIT, modified: [] }
  const modified = await findModified(root, commit, files)
  // Only the parts of package.json and the lock that go into the archive count: they are derived again from the
  // commit's files.
  const read = async (path: string) => String(await readFromCommit(root, commit, path))
  const committed = await makeManifests({ read, folders, packages }).catch(() => undefined)
  for (const [path, text] of made.texts) {
    if (committed?.texts.get(path) !== text) modified.push(path)
  }
  return { gitCommit: modified.length > 0 ? `${commit}-modified` : commit, modified }
}

async function listArchived(root: string, { files }: Sources, { texts }: ArchiveManifests, gitCommit: string) {
  const archived: ArchiveFile[] = [{ path: COMMIT_FILE, body: Buffer.from(`${gitCommit}\n`) }]
  for (const [path, body] of files) {
    // Only the owner's bit counts: those of group and others depend on the umask.
    const isExecutable = ((await stat(join(root, path))).mode & 0o100) !== 0
    archived.push({ path, body, isExecutable })
  }
  for (const [path, text] of texts) archived.push({ path, body: Buffer.from(text) })
  return archived
}

/** Throws if node_modules differs from the lock, because nobody could rebuild such a bundle. */
async function assertInstalled(root: string, { installed }: ArchiveManifests): Promise<void> {
  for (const [path, version] of installed) {
    const text = await readFileIfThere(join(root, path, 'package.json'))
    // Absent: an optional package for another platform. If a required one is missing, the bundlers fail.
    const found = text && (JSON.parse(text.toString()) as { version: string }).version
    if (found && found !== version) throw new Error(`${path} is ${found} and the lock says ${version}: run npm ci`)
  }
}

function assertCovered(sources: Sources, inputs: readonly string[]): void {
  const missing = inputs.filter((path) => !path.includes(':') && !path.includes('node_modules/') && !sources.files.has(path))
  if (missing.length > 0) throw new Error(`the bundle holds what the source archive would not: ${missing.join(', ')}`)
}

function packageOf(path: string): string[] {
  const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]
  return name && !name.startsWith('.') ? [name] : []
}

async function readText(root: string, path: string): Promise<string> {
  const bytes = await readFileIfThere(join(root, path))
  if (!bytes) throw new Error(`${path} is not there`)
  return bytes.toString()
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64')
}
