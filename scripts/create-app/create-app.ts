#!/usr/bin/env node
// Writes the guest book of examples/ into a new folder, as an app to begin with. It is packed with its template, and an
// installation serves it, so that nothing of it comes from a registry.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const usage = `usage: npx ADDRESS/downloads/atrium-create-app.tgz FOLDER [PUBLISHABLE_KEY]

ADDRESS is where your Atrium runs, such as http://localhost:8787.
`
const here = dirname(fileURLToPath(import.meta.url))
const template = join(here, 'template')
const defaultAddress = 'http://localhost:8787'

const [target, key = 'wpk_…'] = process.argv.slice(2)
if (!target || target.startsWith('-')) {
  process.stderr.write(usage)
  process.exitCode = 1
} else {
  await create(resolve(target)).catch((error: unknown) => {
    process.stderr.write(`create-atrium-app: ${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 1
  })
}

async function create(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  if ((await readdir(folder)).length > 0) throw new Error(`${folder} is not empty`)
  const address = await findAddress()
  for (const path of await readdir(template, { recursive: true, withFileTypes: true })) {
    if (!path.isFile()) continue
    const from = join(path.parentPath, path.name)
    // npm renames a .gitignore in a package; so it is packed without its dot.
    const to = join(folder, relative(template, from).replace(/^gitignore$/, '.gitignore'))
    const text = (await readFile(from, 'utf8')).replaceAll(defaultAddress, address)
    await mkdir(dirname(to), { recursive: true })
    await writeFile(to, path.name === 'package.json' ? named(text, folder) : text)
  }
  const place = relative(process.cwd(), folder) || '.'
  process.stdout.write(
    `\nA guest book is in ${folder}. Its README says how it works.\n\n  cd ${place}\n  npm install\n  npm start -- ${key}\n\n`,
  )
}

/** The name of the folder, with what a package's name may not have replaced. */
function named(manifest: string, folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, '-')
    .replace(/^-+/, '')
  return `${JSON.stringify({ ...(JSON.parse(manifest) as object), name: name || 'guest-book' }, null, 2)}\n`
}

/** The address of the installation: that which npm took this package from. */
async function findAddress(): Promise<string> {
  const lock = await readFile(join(here, '../../.package-lock.json'), 'utf8').catch(() => '{}')
  const { packages } = JSON.parse(lock) as { packages?: Record<string, { resolved?: string }> }
  const resolved = packages?.['node_modules/@atrium/create-app']?.resolved ?? ''
  return /^(https?:\/\/.*)\/downloads\//.exec(resolved)?.[1] ?? process.env['ATRIUM_URL'] ?? defaultAddress
}
