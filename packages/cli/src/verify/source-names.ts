import { CheckFailed } from './report.ts'

/**
 * Files that tools read implicitly: a second lock file that overrides the checked one, other install and build steps.
 */
const STEERING = new Set([
  'npm-shrinkwrap.json',
  'yarn.lock',
  'pnpm-lock.yaml',
  'pnpm-workspace.yaml',
  'bun.lock',
  'bun.lockb',
  'bunfig.toml',
  'binding.gyp',
])

/** Device names of Windows, with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/

/**
 * The names of an archive's entries. Rejects names that leave the folder, configure a tool, or collide on some file
 * system.
 */
export class SourceNames {
  /** The exact path and type, by lower-case path. */
  readonly #seen = new Map<string, { readonly path: string; readonly isFolder: boolean }>()

  addFile(path: string): void {
    this.#add(path, false)
  }

  /** The path ends with a slash. */
  addFolder(path: string): void {
    this.#add(path.replace(/\/$/, ''), true)
  }

  #add(path: string, isFolder: boolean): void {
    if (path.length > 255) throw new CheckFailed('the archive contains a name of more than 255 characters')
    const parts = path.split('/')
    for (const part of parts) assertHarmless(part, path)
    if (parts.length > 1 && parts.at(-1)?.toLowerCase() === 'package-lock.json') {
      throw new CheckFailed(`the archive contains ${path}: a second lock file`)
    }
    for (let depth = 1; depth < parts.length; depth++) this.#claim(parts.slice(0, depth).join('/'), true)
    if (!this.#claim(path, isFolder)) throw new CheckFailed(`the archive contains ${path} twice`)
  }

  /** Returns false if the same entry exists already. */
  #claim(path: string, isFolder: boolean): boolean {
    const known = this.#seen.get(path.toLowerCase())
    if (!known) this.#seen.set(path.toLowerCase(), { path, isFolder })
    else if (known.path !== path) throw new CheckFailed(`the archive contains ${path} twice, in other capitals: ${known.path}`)
    else if (known.isFolder !== isFolder) throw new CheckFailed(`the archive contains ${path} twice, as a file and as a folder`)
    return !known || isFolder
  }
}

function assertHarmless(part: string, path: string): void {
  if (
    !/^[A-Za-z0-9_@](?:[A-Za-z0-9_@+.-]*[A-Za-z0-9_@+-])?$/.test(part) ||
    DEVICE.test(part.toLowerCase()) ||
    part.toLowerCase() === 'node_modules'
  ) {
    throw new CheckFailed(`the archive contains ${JSON.stringify(path)}: not a name that source has`)
  }
  if (STEERING.has(part.toLowerCase())) throw new CheckFailed(`the archive contains ${path}: it steers tools and is not checked`)
}
