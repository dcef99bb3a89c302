/**
 * Behind `npm run release`: makes dist/release from this checkout: the archive that `npm ci --omit=dev && npm start` runs
 * from, its bill of materials, and SHA256SUMS. What a start would build (the Space service, the packages for /downloads)
 * is in the archive. Equal commits give equal bytes. With --allow-modified, a changed checkout is packed too, and the
 * file COMMIT says so.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { type ArchiveFile, makeArchive } from '../../packages/space/build/archive.ts'
import { digestInputs } from '../../packages/space/build/input-digest.ts'
import { billOfMaterials } from './bill-of-materials.ts'
import { listFiles } from './list-files.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))
const space = 'packages/space/dist'
const web = 'packages/web/dist'
const downloads = 'dist/packages'

const { values } = parseArgs({
  options: {
    'allow-modified': { type: 'boolean', default: false },
    out: { type: 'string', default: join(root, 'dist/release') },
  },
})
await release(resolve(values.out), values['allow-modified'])

async function release(folder: string, allowsModified: boolean): Promise<void> {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }
  const { commit, committedAt } = await describeCommit(allowsModified)
  // One after the other: both load bundlers.
  await run(process.execPath, [join(root, 'packages/space/build/build.ts')])
  await run(process.execPath, [join(root, 'packages/web/build/build-console.ts')])
  await run(process.execPath, [join(root, 'scripts/pack/pack.ts')])
  const bom = await billOfMaterials(root, { name: 'atrium', committedAt })
  const files = await collect({ COMMIT: `${commit}\n`, 'sbom.cdx.json': bom })
  const name = `atrium-${version}`
  const archive = makeArchive(files.map((file) => ({ ...file, path: `${name}/${file.path}` })))
  const made = { [`${name}.tar.gz`]: archive, [`${name}.cdx.json`]: Buffer.from(bom) }
  const sums = Object.entries(made).map(([file, bytes]) => `${sha256(bytes)}  ${file}\n`)
  await mkdir(folder, { recursive: true })
  for (const [file, bytes] of Object.entries(made)) await put(folder, file, bytes)
  await put(folder, 'SHA256SUMS', sums.join(''))
  process.stdout.write(`${folder}, from commit ${commit}\n${sums.join('')}`)
}

async function describeCommit(allowsModified: boolean): Promise<{ commit: string; committedAt: string }> {
  const git = async (...args: string[]) => (await run('git', args, { cwd: root })).stdout.trim()
  const [head = '', committedAt = ''] = (await git('log', '-1', '--format=%H %cI')).split(' ')
  const isModified = (await git('status', '--porcelain')) !== ''
  if (isModified && !allowsModified)
    throw new Error('the checkout has changes that are not committed: commit them, or add -- --allow-modified')
  return { commit: isModified ? `${head}-modified` : head, committedAt: new Date(committedAt).toISOString() }
}

/** All files of the archive. `made`: further ones, by path. */
async function collect(made: Readonly<Record<string, string>>): Promise<ArchiveFile[]> {
  const files: ArchiveFile[] = Object.entries(made).map(([path, text]) => ({ path, body: Buffer.from(text) }))
  const add = async (path: string) => {
    const file = join(root, path)
    // The owner's bit alone: the others are the umask's.
    files.push({ path, body: await readFile(file), isExecutable: ((await stat(file)).mode & 0o100) !== 0 })
  }
  for (const path of await listFiles(root)) await add(path)
  for (const name of ['build.json', 'source.tar.gz', 'space.mjs']) await add(`${space}/${name}`)
  await add(`${web}/console.sha256`)
  for (const name of await readdir(join(root, web, 'console'), { recursive: true }))
    if (/\.\w+$/.test(name)) await add(`${web}/console/${name}`)
  const { files: packed } = JSON.parse(await readFile(join(root, downloads, 'index.json'), 'utf8')) as Index
  for (const name of ['SHA256SUMS', 'index.json', ...packed.map(({ file }) => file)]) await add(`${downloads}/${name}`)
  files.push({ path: `${space}/inputs.sha256`, body: Buffer.from(`${await digestReleased(files)}\n`) })
  return files
}

interface Index {
  files: { file: string }[]
}

/** The digest by which a start sees that the Space bundle is of the tree that it lies in: here, that of the archive. */
async function digestReleased(files: readonly ArchiveFile[]): Promise<string> {
  const tree = await mkdtemp(join(tmpdir(), 'atrium-release-'))
  try {
    for (const { path, body } of files) {
      await mkdir(dirname(join(tree, path)), { recursive: true })
      await writeFile(join(tree, path), body)
    }
    return await digestInputs(tree)
  } finally {
    await rm(tree, { recursive: true, force: true })
  }
}

/** Each file appears whole. */
async function put(folder: string, name: string, body: Uint8Array | string): Promise<void> {
  const draft = join(folder, `.${name}.${process.pid}`)
  await writeFile(draft, body)
  await rename(draft, join(folder, name))
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
