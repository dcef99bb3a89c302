import { isJsonObject, parseJsonObject } from '@atrium/contract/strict-json'
import { CheckFailed } from './report.ts'
import type { Source } from './source.ts'

export interface Manifests {
  /** The number of third-party packages that the build uses. */
  readonly packages: number
  /** The command behind `npm run build`. */
  readonly build: string
}

const VERSION = /^\d{1,9}\.\d{1,9}\.\d{1,9}(?:[-+][0-9A-Za-z.+-]{1,100})?$/
const SHA512 = /^sha512-[A-Za-z0-9+/]{86}==$/
const NAME = /^(?:@[a-z0-9_~-][a-z0-9_~.-]{0,99}\/)?[a-z0-9_~-][a-z0-9_~.-]{0,199}$/i

/**
 * Checks the manifests of the source. Only the build script may run, and third-party packages must come from the public
 * registry, each with its hash. Otherwise the build could depend on more than the source.
 */
export function checkManifests(source: Source): Manifests {
  const root = readJson(source, 'package.json')
  for (const path of source.keys()) {
    if (!`/${path}`.toLowerCase().endsWith('/package.json')) continue
    const { scripts } = readJson(source, path)
    const names = scripts === undefined ? [] : isJsonObject(scripts) ? Object.keys(scripts) : ['scripts that are not an object']
    const unexpected = names.find((name) => path !== 'package.json' || name !== 'build')
    if (unexpected !== undefined) throw new CheckFailed(`${path} has a script other than build: ${JSON.stringify(unexpected)}`)
  }
  const build = isJsonObject(root['scripts']) ? root['scripts']['build'] : undefined
  if (typeof build !== 'string' || build === '') throw new CheckFailed('package.json has no script build')
  return { packages: checkLock(source), build }
}

function checkLock(source: Source): number {
  const { lockfileVersion, packages, dependencies } = readJson(source, 'package-lock.json')
  if (lockfileVersion !== 3 || dependencies !== undefined || !isJsonObject(packages)) {
    throw new CheckFailed('package-lock.json is not of version 3')
  }
  const entries = Object.entries(packages)
  return entries.filter(([path, entry]) => checkEntry(source, path, entry)).length
}

/** True for a third-party package, false for a package of the source. */
function checkEntry(source: Source, path: string, entry: unknown): boolean {
  if (!isJsonObject(entry)) throw new CheckFailed(`the lock's entry ${JSON.stringify(path)} is not an object`)
  const { link, resolved, integrity, version } = entry
  if (!isInstalled(source, path)) {
    const isOurs = isOwn(source, path) && resolved === undefined && link === undefined
    if (!isOurs) throw new CheckFailed(`the lock names ${JSON.stringify(path)}, which is not in the source`)
    return false
  }
  if (link !== undefined) {
    if (link !== true || !isOwn(source, resolved))
      throw new CheckFailed(`the lock links ${path} to a package that is not in the source`)
    return false
  }
  const isPublic = resolved === undefined || (typeof resolved === 'string' && resolved.startsWith('https://registry.npmjs.org/'))
  const isPinned = typeof integrity === 'string' && SHA512.test(integrity) && typeof version === 'string' && VERSION.test(version)
  if (!isPublic || !isPinned) throw new CheckFailed(`the lock does not pin ${path} to a public package with its hash`)
  return true
}

/** Whether the path is that of a package in node_modules, of the source or of one of its own packages. */
function isInstalled(source: Source, path: string): boolean {
  const [owner = '', ...names] = `/${path}/`.split('/node_modules/')
  const last = names.pop()?.slice(0, -1)
  if (last === undefined || ![...names, last].every((name) => NAME.test(name))) return false
  return isOwn(source, owner.slice(1))
}

/** A folder of the source that is a package; '' is the source itself. */
function isOwn(source: Source, folder: unknown): boolean {
  return folder === '' || (typeof folder === 'string' && source.has(`${folder}/package.json`))
}

/** Rejects duplicate members, which people and npm would read differently. */
function readJson(source: Source, path: string): Readonly<Record<string, unknown>> {
  const body = source.get(path)?.body
  if (!body) throw new CheckFailed(`it has no ${path}`)
  if (body.length > 4 * 1024 * 1024) throw new CheckFailed(`its ${path} is too long`)
  const value = parseJsonObject(body)
  if (!value) throw new CheckFailed(`its ${path} is not a JSON object with each member once`)
  return value
}
