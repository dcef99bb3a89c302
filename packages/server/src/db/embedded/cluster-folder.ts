import { codeOf, fieldOf, messageOf } from '#errors/caught.ts'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { StartError } from '#errors/start-error.ts'
import { removeAbandoned } from './abandoned.ts'
import type { Binaries } from './binaries.ts'
import { canEnter, giveTo, makeFolder, type ServerUser } from './server-user.ts'

/**
 * The folder under root for data that PostgreSQL's user must reach, if the configured folder is closed to that user.
 */
export const openFolder = '/var/lib/atrium'

export function makeDataFolder(dataDir: string, user: ServerUser | undefined): string {
  try {
    makeFolder(dataDir, user)
    accessSync(dataDir, constants.W_OK | constants.X_OK)
    return realpathSync(dataDir)
  } catch (error) {
    throw new StartError(
      `The data folder ${dataDir} cannot be written (${codeOf(error)}): give atrium a folder that its user may write`,
    )
  }
}

/**
 * The folder of PostgreSQL's files: <dataDir>/postgres, or, where PostgreSQL's user cannot enter that, one under
 * /var/lib/atrium with a link to it at <dataDir>/postgres. The link records the choice, so that a later change of
 * permissions does not hide the data.
 */
export function findClusterFolder(dataDir: string, user: ServerUser | undefined, say: (line: string) => void): string {
  const usual = path.join(dataDir, 'postgres')
  if (user && !isLink(usual) && !canEnter(user, dataDir)) placeElsewhere(usual, dataDir, user)
  if (!isLink(usual)) return usual
  const target = path.resolve(dataDir, readlinkSync(usual))
  if (!existsSync(target)) {
    throw new StartError(
      `${usual} points to ${target}, which does not exist: restore it, or remove ${usual} to start with an empty database`,
    )
  }
  say(`PostgreSQL's files are in ${target}, which ${usual} points to`)
  return realpathSync(target)
}

function isLink(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
}

function placeElsewhere(usual: string, dataDir: string, user: ServerUser): void {
  if (existsSync(path.join(usual, 'PG_VERSION'))) {
    throw new StartError(
      `User ${user.name}, as which PostgreSQL runs, can no longer enter ${dataDir}: run chmod o+x on it and on the folders above`,
    )
  }
  const name = `${path.basename(dataDir)}-${createHash('sha256').update(dataDir).digest('hex').slice(0, 8)}`
  const home = path.join(openFolder, name)
  // Made before the link, because a dangling link means that the data was removed.
  makeFolder(path.join(home, 'postgres'), user)
  if (!canEnter(user, home)) {
    throw new StartError(
      `User ${user.name}, as which PostgreSQL runs, can enter neither ${dataDir} nor ${home}: run chmod o+x on either and the folders above`,
    )
  }
  rmSync(usual, { recursive: true, force: true })
  symlinkSync(path.join(home, 'postgres'), usual)
}

/** Makes a new database cluster if there is none, and refuses one that this PostgreSQL cannot open. */
export async function prepareCluster(
  folder: string,
  binaries: Binaries,
  user: ServerUser | undefined,
  fsync: boolean,
): Promise<void> {
  const versionFile = path.join(folder, 'PG_VERSION')
  try {
    removeAbandoned(`${folder}.new-`)
    if (!existsSync(folder) || readdirSync(folder).length === 0) await initialise(folder, binaries, user, fsync)
    if (user) giveTo(user, folder)
    assertVersion(folder, readFileSync(versionFile, 'utf8').trim(), binaries.majorVersion)
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT') throw new StartError(`${folder} holds files but no PostgreSQL database: move them away`)
    if (code === 'EACCES' || code === 'EPERM')
      throw new StartError(`${folder} belongs to another user (${code}): start atrium as that user, or as root`)
    throw error
  }
}

function assertVersion(folder: string, found: string, ours: string): void {
  if (found === ours) return
  throw new StartError(
    `${folder} was written by PostgreSQL ${found} and this release of Atrium contains PostgreSQL ${ours}: run atrium backup with the atrium that wrote it, and atrium restore with this one and a new data folder`,
  )
}

/**
 * Makes the cluster under a temporary name and renames it, so that a crash leaves no partial cluster and two first
 * starts make one.
 */
async function initialise(folder: string, binaries: Binaries, user: ServerUser | undefined, fsync: boolean): Promise<void> {
  const fresh = mkdtempSync(`${folder}.new-`)
  try {
    if (user) giveTo(user, fresh)
    // The builtin collation sorts the same on every system and release; the system's own does not.
    const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
    const access = ['--username=atrium', '--auth-local=trust', '--auth-host=reject']
    const args = ['-D', fresh, ...locale, ...access, '--no-instructions', ...(fsync ? [] : ['--no-sync'])]
    const identity = user ? { uid: user.uid, gid: user.gid } : {}
    await promisify(execFile)(binaries.initdb, args, { ...identity, cwd: '/', env: { LC_ALL: 'C', TZ: 'UTC' } })
    renameSync(fresh, folder)
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true })
    if (existsSync(path.join(folder, 'PG_VERSION'))) return
    const reason =
      /^.*?((?:error|FATAL|PANIC): .*)$/m.exec(String(fieldOf(error, 'stderr') ?? ''))?.[1] ?? messageOf(error).split('\n')[0]
    throw new StartError(`PostgreSQL could not prepare ${folder}: ${reason}`)
  }
}
