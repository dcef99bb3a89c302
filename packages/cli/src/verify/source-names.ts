import { CheckFailed } from './report.ts'

/** Files that tools read without being told to: a second lock that overrides the checked one, other install and build steps. */
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

/** Windows opens a device under these names, whatever their ending. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/

/** The names of an archive's entries: refuses those that leave the folder, steer a tool, or are one another's on some file system. */
export class SourceNames {
  /** By lower-case path: how it is spelled, and what it is. */
  readonly #seen = new Map<string, { readonly path: string; readonly isFolder: boolean }>()

  addFile(path: string): void {
    this.#add(path, false)
  }

  /** Named with a slash at the end. */
  addFolder(path: string): void {
    this.#add(path.replace(/\/$/, ''), true)
  }

  #add(path: string, isFolder: boolean): void {
    if (path.length > 255) throw new CheckFailed('the archive holds a name of more than 255 characters')
    const parts = path.split('/')
    for (const part of parts) assertHarmless(part, path)
    if (parts.length > 1 && parts.at(-1)!.toLowerCase() === 'package-lock.json') {
      throw new CheckFailed(`the archive holds ${path}: a second lock file`)
    }
    for (let depth = 1; depth < parts.length; depth++) this.#claim(parts.slice(0, depth).join('/'), true)
    if (!this.#claim(path, isFolder)) throw new CheckFailed(`the archive holds ${path} twice`)
  }

  /** False when the very same entry is there already. */
  #claim(path: string, isFolder: boolean): boolean {
    const known = this.#seen.get(path.toLowerCase())
    if (!known) this.#seen.set(path.toLowerCase(), { path, isFolder })
    else if (known.path !== path) throw new CheckFailed(`the archive holds ${path} twice, in other capitals: ${known.path}`)
    else if (known.isFolder !== isFolder) throw new CheckFailed(`the archive holds ${path} twice, as a file and as a folder`)
    return !known || isFolder
  }
}

function assertHarmless(part: string, path: string): void {
  if (
    !/^[A-Za-z0-9_@](?:[A-Za-z0-9_@+.-]*[A-Za-z0-9_@+-])?$/.test(part) ||
    DEVICE.test(part.toLowerCase()) ||
    part.toLowerCase() === 'node_modules'
  ) {
    throw new CheckFailed(`the archive holds ${JSON.stringify(path)}: not a name that source has`)
  }
  if (STEERING.has(part.toLowerCase())) throw new CheckFailed(`the archive holds ${path}: it steers tools in secret`)
}
