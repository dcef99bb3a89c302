/**
 * Behind `npm run pack`: makes what people install outside of this folder, in dist/packages: the client, the command
 * line and the verifier as tarballs for npm, the verifier as one file, and the Python client as a wheel. index.json and SHA256SUMS name each with
 * its hash. Equal sources give equal bytes. With --if-old, it makes nothing where dist/packages is of these sources.
 */
import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeArchive } from '../../packages/space/build/archive.ts'
import { digestSources } from './digest-sources.ts'
import { packClient, packCli, packVerifier, type Packed } from './packages.ts'
import { packPython } from './wheel.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = join(root, 'dist/packages')

const sources = await digestSources(root)
const made = await readFile(join(folder, 'index.json'), 'utf8').catch(() => '{}')
const isFresh = (JSON.parse(made) as { sources?: string }).sources === sources
if (!process.argv.includes('--if-old') || !isFresh) await pack()

async function pack(): Promise<void> {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }
  const packages = await Promise.all([packClient(root), packCli(root), packVerifier(root)])
  const verifier = packages[2].files['atrium-verify.mjs']!
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

/** As `npm pack` would: everything lies in `package`. */
function tarballOf({ files }: Packed): Buffer {
  return makeArchive(
    Object.entries(files).map(([path, content]) => ({
      path: `package/${path}`,
      body: Buffer.from(content),
      isExecutable: path.startsWith('bin/') || path === 'atrium-verify.mjs',
    })),
  )
}

/** Each file appears whole, whoever else makes it at the same time. */
async function put(name: string, body: Uint8Array | string): Promise<void> {
  const draft = join(folder, `.${name}.${randomUUID()}`)
  await writeFile(draft, body)
  await rename(draft, join(folder, name))
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
