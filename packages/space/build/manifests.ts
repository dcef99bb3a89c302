import type { Manifest } from './workspace.ts'

interface LockEntry {
  readonly name?: string
  readonly version?: string
  readonly integrity?: string
  readonly resolved?: string
  readonly link?: true
  readonly license?: string
  readonly dev?: true
  readonly devOptional?: true
  readonly optional?: true
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { optional?: boolean }>>
}

interface Lock {
  readonly lockfileVersion: number
  readonly packages: Readonly<Record<string, LockEntry>>
}

export interface ManifestInput {
  /** The text of a file of the tree. */
  readonly read: (path: string) => Promise<string>
  /** Folders of our own packages in the archive. */
  readonly folders: readonly string[]
  /** Other people's packages that the build needs by name. */
  readonly packages: readonly string[]
}

/** Deterministic, and made from what it made it is the same again: the archive of an archive is that archive. */
export interface ArchiveManifests {
  readonly texts: ReadonlyMap<string, string>
  /** Each package that the lock names: its folder under the root, and its version. */
  readonly installed: ReadonlyMap<string, string>
}

/** The package.json files and the package-lock.json of the source archive: the tree's own, without what the build does not need. */
export async function makeManifests({ read, folders, packages }: ManifestInput): Promise<ArchiveManifests> {
  const readJson = async <T>(path: string) => JSON.parse(await read(path)) as T
  const lock = await readJson<Lock>('package-lock.json')
  const root = await readJson<Manifest>('package.json')
  const own = await Promise.all(folders.map((folder) => readJson<Manifest>(`${folder}/package.json`)))
  const needed = new Set([...packages, ...own.map(({ name }) => name)])
  const rootManifest = makeRootManifest(root, folders, needed)
  const entries: Record<string, LockEntry> = { '': pickLockFields(rootManifest) }
  const texts = new Map([['package.json', toText(rootManifest)]])
  for (const [i, folder] of folders.entries()) {
    const manifest = makeOwnManifest(own[i]!, needed)
    texts.set(`${folder}/package.json`, toText(manifest))
    entries[folder] = pickLockFields(manifest)
    entries[`node_modules/${manifest.name}`] = { resolved: folder, link: true }
  }
  followLock(lock, entries)
  const sorted = Object.fromEntries(Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1)))
  const { name, version } = rootManifest
  const { lockfileVersion } = lock
  texts.set('package-lock.json', toText({ name, version, lockfileVersion, requires: true, packages: sorted }))
  const installed = Object.entries(sorted).flatMap(([path, { version: v, link }]) =>
    path.includes('node_modules/') && v && !link ? ([[path, v]] as const) : [],
  )
  return { texts, installed: new Map(installed) }
}

function makeRootManifest(root: Manifest, folders: readonly string[], needed: ReadonlySet<string>) {
  return {
    name: 'atrium-space-source',
    version: root.version,
    private: true,
    description: 'The source of the Space service. `npm ci && npm run build` makes packages/space/dist/space.mjs.',
    license: root.license,
    type: 'module',
    workspaces: folders,
    engines: root.engines,
    // All are needed to build: `npm ci` must bring them also where it is told to leave out dev dependencies.
    dependencies: pick({ ...root.devDependencies, ...root.dependencies }, needed),
    // The Node that npm scripts run on.
    optionalDependencies: pick(root.optionalDependencies, { has: (name) => name.startsWith('node-') }),
    scripts: { build: 'node packages/space/build/build.ts' },
  }
}

function makeOwnManifest({ name, version, license, exports, dependencies }: Manifest, needed: ReadonlySet<string>) {
  return { name, version, private: true, license, type: 'module', exports, dependencies: pick(dependencies, needed) }
}

const LOCK_FIELDS = new Set(['name', 'version', 'license', 'workspaces', 'dependencies', 'engines', 'optionalDependencies'])

function pickLockFields(manifest: object): LockEntry {
  return Object.fromEntries(Object.entries(manifest).filter(([name]) => LOCK_FIELDS.has(name)))
}

function pick(versions: Readonly<Record<string, string>> = {}, names: { has(name: string): boolean }): Record<string, string> {
  return Object.fromEntries(
    Object.entries(versions)
      .filter(([name]) => names.has(name))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )
}

/** Adds to `entries` what they depend on, each in the very folder where the tree has it: the bundle's comments name these folders. */
function followLock(lock: Lock, entries: Record<string, LockEntry>): void {
  const open = Object.keys(entries)
  for (let from = open.pop(); from !== undefined; from = open.pop()) {
    for (const [name, isOptional] of dependenciesOf(entries[from]!)) {
      const path = resolveInLock(lock, from, name)
      if (path === undefined && !isOptional)
        throw new Error(`package-lock.json has no ${name}, which ${from || 'the root'} needs`)
      if (path === undefined || path in entries) continue
      const { dev: _dev, devOptional, ...entry } = lock.packages[path]!
      entries[path] = devOptional ? { ...entry, optional: true } : entry
      open.push(path)
    }
  }
}

function dependenciesOf({ dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta }: LockEntry) {
  const names = new Map<string, boolean>()
  for (const name of Object.keys(dependencies ?? {})) names.set(name, false)
  for (const name of Object.keys(peerDependencies ?? {})) {
    if (!peerDependenciesMeta?.[name]?.optional) names.set(name, false)
  }
  for (const name of Object.keys(optionalDependencies ?? {})) names.set(name, true)
  return names
}

/** As Node looks for it: beside the package, then outwards. */
function resolveInLock(lock: Lock, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(folder.lastIndexOf('/'), 0))) {
    const path = folder ? `${folder}/node_modules/${name}` : `node_modules/${name}`
    if (path in lock.packages) return path
    if (!folder) return undefined
  }
}

function toText(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
