import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { makeManifests } from '../manifests.ts'
import { findWorkspaces } from '../workspace.ts'

export const run = promisify(execFile)

export const checkout = fileURLToPath(new URL('../../../..', import.meta.url))

const LEFT_OUT = new Set(['server', 'cli', 'client', 'node_modules', 'dist'])

export interface TreeCopy {
  readonly root: string
  /** Runs build.ts there. */
  build(options?: BuildOptions): Promise<BuildOutput>
}

interface BuildOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly umask?: string
}

interface BuildOutput {
  readonly bundle: Buffer
  readonly archive: Buffer
  readonly json: Buffer
}

/** For tests: this checkout's files and the packages that the build uses, in a folder of its own, without git. */
export async function copyTree(folder: string): Promise<TreeCopy> {
  for (const name of ['package.json', 'package-lock.json', 'tsconfig.json', 'LICENSE']) {
    await cp(join(checkout, name), join(folder, name))
  }
  await cp(join(checkout, 'packages'), join(folder, 'packages'), {
    recursive: true,
    filter: (path) => !LEFT_OUT.has(path.slice(checkout.length).split('/').at(-1) ?? ''),
  })
  await copyInstalled(folder)
  return treeAt(folder)
}

export function treeAt(root: string): TreeCopy {
  return { root, build: (options) => build(root, options) }
}

/** node_modules as `npm ci` would make it: real folders, for a link would lead the bundlers back to this checkout. */
async function copyInstalled(folder: string): Promise<void> {
  const workspaces = [...(await findWorkspaces(folder)).values()]
  const { installed } = await makeManifests({
    read: (path) => readFile(join(folder, path), 'utf8'),
    folders: workspaces.map((workspace) => workspace.folder),
    packages: ['esbuild', 'vite', 'preact', 'typebox', '@noble/curves', '@noble/hashes'],
  })
  const options = { recursive: true, verbatimSymlinks: true }
  for (const path of installed.keys()) {
    if (path.includes('node-linux') || path.lastIndexOf('node_modules/') > 0) continue
    await cp(join(checkout, path), join(folder, path), options).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error // another platform's
    })
  }
  await cp(join(checkout, 'node_modules/@atrium'), join(folder, 'node_modules/@atrium'), options)
}

async function build(root: string, { env = {}, umask = '022' }: BuildOptions = {}): Promise<BuildOutput> {
  const script = `umask ${umask}; exec "$0" "$1"`
  await run('sh', ['-c', script, process.execPath, join(root, 'packages/space/build/build.ts')], {
    env: { ...process.env, ...env },
  })
  const read = (name: string) => readFile(join(root, 'packages/space/dist', name))
  return { bundle: await read('space.mjs'), archive: await read('source.tar.gz'), json: await read('build.json') }
}

/** A folder that is removed when the test file ends. */
export async function temporaryFolder(after: (done: () => Promise<void>) => void, prefix = 'atrium-test-'): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), prefix))
  after(() => rm(folder, { recursive: true, force: true }))
  return folder
}
