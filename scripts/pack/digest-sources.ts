import { createHash } from 'node:crypto'
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'

const patterns = [
  'packages/{cli,client,contract,identity,mcp,room-client,sealing}/{src,bin}/**/*.{ts,cjs}',
  'packages/server/src/{config,errors,gateway/docs/reference}/**/*.ts',
  'packages/**/README.md',
  'packages/*/package.json',
  'packages/python/src/**/{*.py,py.typed}',
  'scripts/pack/*.ts',
  'scripts/create-app/*',
  'examples/guest-book/{.gitignore,README.md,package.json,start.js}',
  'examples/guest-book/public/guest-book.{css,js}',
  'examples/guest-book/public/{icon.svg,index.html}',
]
/** A release has no tests, and must find its packages fresh. */
const leftOut = new Set(['node_modules', 'dist', 'testing'])
const files = ['package.json', 'package-lock.json', 'LICENSE', 'packages/space/build/archive.ts']

/** A value that changes with every file that may be part of a package. */
export async function digestSources(root: string): Promise<string> {
  const paths = [...files]
  for (const pattern of patterns) {
    for await (const path of glob(pattern, { cwd: root, exclude: (name) => leftOut.has(name) })) paths.push(path)
  }
  const sources = paths.filter((path) => !path.endsWith('.test.ts')).toSorted()
  const hashes = await Promise.all(sources.map(async (path) => `${path} ${sha256(await readFile(join(root, path)))}`))
  return sha256(hashes.join('\n'))
}

function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}
