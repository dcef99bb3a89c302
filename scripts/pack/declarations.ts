import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, posix } from 'node:path'
import { promisify } from 'node:util'
import { contractModules } from './contract-types.ts'

const run = promisify(execFile)

/**
 * The declarations of these modules of the client and of all that they import, as `{path: text}` under `types/`.
 * Imports of workspace packages become relative, so that only this package has to be installed.
 */
export async function makeDeclarations(root: string, entries: readonly string[]): Promise<Record<string, string>> {
  const folder = await mkdtemp(join(tmpdir(), 'atrium-types-'))
  try {
    const packages = join(root, 'packages')
    const project = {
      extends: join(root, 'tsconfig.json'),
      compilerOptions: {
        noEmit: false,
        declaration: true,
        emitDeclarationOnly: true,
        outDir: folder,
        rootDir: packages,
        typeRoots: [join(root, 'node_modules/@types')],
        paths: { '@atrium/*': [join(packages, '*')] },
      },
      files: [],
      include: ['client', 'room-client', 'sealing', 'identity', 'contract'].map((name) => `${packages}/${name}/src/*.ts`),
      exclude: [`${packages}/*/src/*.test.ts`],
    }
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(project))
    await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder]).catch(
      (error: { stdout: string }) => {
        throw new Error(`the declarations cannot be made:\n${error.stdout}`)
      },
    )
    return await collect(folder, entries)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function collect(folder: string, entries: readonly string[]): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  const declared = (path: string) => readFile(join(folder, path), 'utf8')
  const open = entries.map((name) => `client/src/${name}.d.ts`)
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (found[`types/${path}`] !== undefined) continue
    const generated = contractModules[path]
    const text = generated ? await generated(declared) : await declared(path)
    const here = dirname(path)
    const linked = text.replace(/(?<=\bfrom |\bimport\()(['"])([^'"]+)\1/g, (whole, quote: string, name: string) => {
      const target = moduleOf(name, here)
      if (target === undefined) return whole
      open.push(`${target}.d.ts`)
      const relative = posix.relative(here, target)
      return `${quote}${relative.startsWith('.') ? relative : `./${relative}`}.js${quote}`
    })
    found[`types/${path}`] = linked
  }
  // A module that was renamed would be published with schemas in place of types, and its types would be `any`.
  for (const path of Object.keys(contractModules))
    if (found[`types/${path}`] === undefined) throw new Error(`contract-types.ts writes ${path}, which no declaration imports`)
  return found
}

/** The module's path in the package, without its extension; undefined if it is not in this workspace. */
function moduleOf(name: string, importedFrom: string): string | undefined {
  if (name.startsWith('.')) return posix.join(importedFrom, name.replace(/\.[jt]s$/, ''))
  if (name === 'typebox') return 'typebox'
  const [, owner, module] = /^@atrium\/([^/]+)\/(.+)$/.exec(name) ?? []
  return owner && module ? `${owner}/src/${module}` : undefined
}
