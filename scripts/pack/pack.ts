/**
 * `npm run pack`: makes what people install elsewhere, in dist/packages: the client, the command line and the
 * verifier as tarballs for npm, the verifier as a single file, and the Python client as a wheel. index.json and
 * SHA256SUMS list each with its hash. Equal sources give equal bytes. With --if-old, it makes nothing if
 * dist/packages is up to date.
 */
import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { required } from '@atrium/contract/required'
import { makeArchive } from '../../packages/space/build/archive.ts'
import { digestSources } from './digest-sources.ts'
import type { Packed } from './packages.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = join(root, 'dist/packages')

const sources = await digestSources(root)
const made = await readFile(join(folder, 'index.json'), 'utf8').catch(() => '{}')
const isFresh = (JSON.parse(made) as { sources?: string }).sources === sources
if (!process.argv.includes('--if-old') || !isFresh) await pack()

async function pack(): Promise<void> {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }
  // Loaded when used: a release has the packages, and no bundler to make them with.
  const [{ packClient, packCli, packCreateApp, packVerifier }, { packPython }] = await Promise.all([
    import('./packages.ts'),
    import('./wheel.ts'),
  ])
  const packages = await Promise.all([packClient(root), packCli(root), packVerifier(root), packCreateApp(root)])
  const verifier = required(packages[2].files['atrium-verify.mjs'], 'packVerifier makes atrium-verify.mjs')
  const files = [
    ...packages.map((packed) => ({ file: `${packed.file}.tgz`, package: packed.name, bytes: tarballOf(packed) })),
    { file: 'atrium-verify.mjs', bytes: Buffer.from(verifier) },
    await packPython(root),
  ]
  await mkdir(folder, { recursive: true })
  for (const { file, bytes } of files) await put(file, bytes)
  const entries = files.map(({ bytes, ...entry }) => ({ ...entry, version, size: bytes.length, sha256: sha256(bytes) }))
  await put('SHA256SUMS', entries.map(({ file, sha256 }) => `${sha256}  ${file}\n`).join(''))
  // Last: where it is, the others are.
  await put('index.json', `${JSON.stringify({ sources, files: entries }, null, 2)}\n`)
  for (const { file, size, sha256 } of entries) console.log(`${sha256}  ${file} (${Math.ceil(size / 1_024)} KiB)`)
}

/** As with `npm pack`, all files are in `package`. */
function tarballOf({ files }: Packed): Buffer {
  return makeArchive(
    Object.entries(files).map(([path, content]) => ({
      path: `package/${path}`,
      body: Buffer.from(content),
      isExecutable: path.startsWith('bin/') || path === 'atrium-verify.mjs' || path === 'create-app.mjs',
    })),
  )
}

/** Each file appears as a whole, even if another process makes it at the same time. */
async function put(name: string, body: Uint8Array | string): Promise<void> {
  const draft = join(folder, `.${name}.${randomUUID()}`)
  await writeFile(draft, body)
  await rename(draft, join(folder, name))
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
