import { chownSync, existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { sqlStateOf } from '@atrium/traffic/database-errors'
import { Connection } from '@atrium/traffic/postgres/connection'
import { findBinaries } from './embedded/binaries.ts'
import { findClusterFolder, makeDataFolder, openFolder, prepareCluster } from './embedded/cluster-folder.ts'
import type { StartError } from '#errors/start-error.ts'
import { keepPostmaster } from './embedded/keep-postmaster.ts'
import { DiskGuard } from './embedded/disk-guard.ts'
import { startPostmaster } from './embedded/postmaster.ts'
import { clearOrphan, findLiveSocket } from './embedded/running-postmaster.ts'
import { canEnter, findServerUser, type ServerUser } from './embedded/server-user.ts'

export type EmbeddedPostgres = {
  connectionString: string
  /** Why it could not be kept running. Never resolves as long as it can. */
  failed: Promise<StartError>
  stop(): Promise<void>
}

export type EmbeddedPostgresOptions = {
  dataDir: string
  /** Receives messages for the operator, one line each. */
  say: (line: string) => void
  /** false only for data that may be lost, as in tests. */
  fsync?: boolean
  settings?: Record<string, string | number>
}

/**
 * Runs the PostgreSQL of the npm package, with its data in <dataDir>/postgres, on a private Unix socket. Makes the data
 * folder and the database `atrium` if they do not exist. PostgreSQL ends with this process, however that ends, and is
 * restarted when it fails. Throws StartError if the operator has to act.
 */
export async function startEmbeddedPostgres({
  dataDir,
  say,
  fsync = true,
  settings = {},
}: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const user = findServerUser()
  const dataFolder = makeDataFolder(path.resolve(dataDir), user)
  const binaries = findBinaries({ user, copiesFolder: user ? openFolder : dataFolder, say })
  const folder = findClusterFolder(dataFolder, user, say)
  await prepareCluster(folder, binaries, user, fsync)
  await clearOrphan(folder, say)

  const socketFolder = makeSocketFolder(user)
  const removeSocketFolder = () => rmSync(socketFolder, { recursive: true, force: true })
  try {
    const logFile = path.join(dataFolder, 'postgres.log')
    const guard = new DiskGuard({ folder, logFile, connectionString: () => connectionString(socketFolder, 'postgres'), say })
    const postmaster = await keepPostmaster({
      start: (stopping) =>
        startPostmaster(
          {
            postgres: binaries.postgres,
            folder,
            socketFolder,
            logFile,
            user,
            settings: { ...smallMachine, ...quietLog, ...(fsync ? {} : careless), ...settings },
          },
          stopping,
        ),
      say,
      // Space may become free again, and PostgreSQL can then start.
      willPass: () => guard.checkFull(),
    })
    const stop = async () => {
      await guard.stop()
      await postmaster.stop()
      removeSocketFolder()
    }
    try {
      await createDatabase(socketFolder)
      // Data that may be lost needs no guard against a full disk.
      if (fsync) await guard.start()
    } catch (error) {
      await stop()
      throw error
    }
    return { connectionString: connectionString(socketFolder, 'atrium'), failed: postmaster.failed, stop }
  } catch (error) {
    removeSocketFolder()
    throw error
  }
}

/** The address of the PostgreSQL that another atrium process runs in this data folder; undefined if none does. */
export function findEmbeddedPostgres(dataDir: string): string | undefined {
  const link = path.resolve(dataDir, 'postgres')
  // PostgreSQL was started with the real path, also if the folder is elsewhere (findClusterFolder).
  const socketFolder = existsSync(link) ? findLiveSocket(realpathSync(link)) : undefined
  return socketFolder && connectionString(socketFolder, 'atrium')
}

const smallMachine = {
  max_connections: 200,
  shared_buffers: '256MB',
  wal_compression: 'on',
  synchronous_commit: 'on',
  random_page_cost: 1.1,
  // Compiling a plan takes longer than any query of this server.
  jit: 'off',
  timezone: 'UTC',
}

/** The log must contain no data of tenants: no statements, and no details, which quote conflicting rows. */
const quietLog = {
  log_min_messages: 'warning',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
  log_timezone: 'UTC',
  log_line_prefix: '%m ',
}

const careless = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }

/**
 * The mode of the folder excludes other users. Its name is short, because the path of a socket has at most 107
 * bytes.
 */
function makeSocketFolder(user: ServerUser | undefined): string {
  const asked = realpathSync(tmpdir())
  // PostgreSQL parses the setting as a list, so only plain names are allowed.
  const serves = asked.length < 60 && /^[\w/.-]+$/.test(asked) && (!user || canEnter(user, asked))
  const folder = mkdtempSync(path.join(serves ? asked : '/tmp', 'atrium-'))
  if (user) chownSync(folder, user.uid, user.gid)
  return folder
}

/** The parameter wins over the host, as in libpq; without a host, URL cannot parse it. */
function connectionString(socketFolder: string, database: string): string {
  return `postgresql://atrium@localhost/${database}?host=${socketFolder}`
}

/** Whether this is the address of an embedded PostgreSQL, and not of the operator's own one on a socket. */
export function isEmbedded(url: string): boolean {
  return url.startsWith(connectionString('/', 'atrium')) && /\/atrium-[A-Za-z0-9]{6}$/.test(url)
}

/** Runs at every start and not only after initdb, because the process may have been killed between the two. */
async function createDatabase(socketFolder: string): Promise<void> {
  const url = connectionString(socketFolder, 'postgres')
  const connection = await Connection.open({ url, connectMs: 30_000, answerMs: 60_000 })
  try {
    const { rowCount } = await connection.query(`select from pg_database where datname = 'atrium'`)
    if (rowCount === 0) await connection.query('create database atrium')
  } catch (error) {
    if (sqlStateOf(error) !== '42P04') throw error
  } finally {
    await connection.end()
  }
}
