import { builtinModules } from 'node:module'
import { join, posix } from 'node:path'
import { findWorkspaces, readFileIfThere } from './workspace.ts'

export interface Sources {
  /** Relative to the root, with `/`, sorted. */
  readonly files: ReadonlyMap<string, Buffer>
  /** Folders of the workspace's packages that contain the files or are imported by them. */
  readonly folders: readonly string[]
  /** Names of third-party packages that the files import. */
  readonly packages: readonly string[]
}

/**
 * Returns the given files and everything that they import, transitively. Includes imports of types, which a bundler
 * drops, so that readers of the source find every declaration and can type-check it.
 */
export async function collectSources(root: string, entries: readonly string[]): Promise<Sources> {
  const workspaces = await findWorkspaces(root)
  const files = new Map<string, Buffer>()
  const folders = new Set<string>()
  const packages = new Set<string>()
  const open = [...entries]
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (files.has(path)) continue
    const bytes = await readFileIfThere(join(root, path))
    if (!bytes) continue // an import that is mentioned in a comment or a text
    files.set(path, bytes)
    const folder = /^packages\/[^/]+/.exec(path)?.[0]
    if (folder) folders.add(folder)
    for (const specifier of findImports(path, bytes)) {
      if (specifier.startsWith('.')) {
        open.push(posix.join(posix.dirname(path), specifier))
        continue
      }
      if (specifier.startsWith('#')) {
        open.push(...importedFiles(workspaces, folder, specifier))
        continue
      }
      const name = /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? ''
      const own = workspaces.get(name)
      if (own) open.push(posix.join(own.folder, exportedFile(own.manifest.exports, specifier.slice(name.length))))
      else if (!specifier.includes(':') && !builtinModules.includes(name)) packages.add(name)
    }
  }
  return { files: sortedByPath(files), folders: [...folders].sort(), packages: [...packages].sort() }
}

const IMPORT =
  /\b(?:import|export)\b[^'"`;=]*?\bfrom\s*['"]([^'"\n]+)['"]|\bimport\s*['"]([^'"\n]+)['"]|\bimport\(\s*['"]([^'"\n]+)['"]/g

const CSS_IMPORT = /@import\s+(?:url\()?['"](\.[^'"\n]+)['"]/g

function findImports(path: string, bytes: Buffer): string[] {
  if (path.endsWith('.css')) return [...bytes.toString().matchAll(CSS_IMPORT)].map(([, file = '']) => file)
  if (!/\.[cm]?[jt]sx?$/.test(path)) return []
  return [...bytes.toString().matchAll(IMPORT)].map(([, from, bare, dynamic]) =>
    (from ?? bare ?? dynamic ?? '').replace(/\?.*/, ''),
  )
}

/** All files that a name within a package may stand for. */
function importedFiles(
  workspaces: Awaited<ReturnType<typeof findWorkspaces>>,
  folder: string | undefined,
  name: string,
): string[] {
  const own = [...workspaces.values()].find((one) => one.folder === folder)
  return Object.values(own?.manifest.imports?.[name] ?? {}).map((file) => posix.join(own?.folder ?? '', file))
}

function exportedFile(exports: Readonly<Record<string, string>> | undefined, subpath: string): string {
  const exact = exports?.[`.${subpath}`]
  return exact ?? exports?.['./*']?.replace('*', subpath.slice(1)) ?? subpath.slice(1)
}

function sortedByPath(files: ReadonlyMap<string, Buffer>): ReadonlyMap<string, Buffer> {
  return new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)))
}
