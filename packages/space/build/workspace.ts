import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The members of a package.json that are read here. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly license?: string
  readonly sideEffects?: boolean
  readonly exports?: Readonly<Record<string, string>>
  /** Files by their name in the package, for each condition. */
  readonly imports?: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly engines?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/** The packages of the workspace: their folders by name. */
export async function findWorkspaces(root: string): Promise<ReadonlyMap<string, { folder: string; manifest: Manifest }>> {
  const workspaces = new Map<string, { folder: string; manifest: Manifest }>()
  for (const name of (await readdir(join(root, 'packages'))).toSorted()) {
    const text = await readFileIfThere(join(root, 'packages', name, 'package.json'))
    if (text === undefined) continue
    const manifest = JSON.parse(text.toString()) as Manifest
    workspaces.set(manifest.name, { folder: `packages/${name}`, manifest })
  }
  return workspaces
}

export async function readFileIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR') return undefined
    throw error
  }
}
