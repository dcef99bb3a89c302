import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream, existsSync, rmSync } from 'node:fs'
import { link, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { readConfig } from '#config/config.ts'
import { readEnv } from '#config/env.ts'
import { readGivenSecrets, type GivenSecrets, type Secrets } from '#config/secrets.ts'
import { findPendingWork } from '#db/migrate.ts'
import { codeOf, messageOf } from '#errors/caught.ts'
import { StartError } from '#errors/start-error.ts'
import { encryptTo } from '#features/backup/age.ts'
import type { BackupManifest } from '#features/backup/manifest.ts'
import { writeBackup } from '#features/backup/write-backup.ts'
import { assertInOnePlace } from '#features/distribution/distribute.ts'
import { openBlobs } from '#ports/blobs/open-blobs.ts'
import { describeMissing, findSpaceKey } from './archive-keys.ts'
import { withDatabase } from './migrate-database.ts'
import { prepareDatabase } from './prepare-database.ts'

export interface BackUpOptions {
  /** `-` is the standard output. */
  file: string
  blobs: boolean
  /** age public keys. An empty list: the archive is not encrypted. */
  recipients: readonly string[]
}

/** `atrium backup FILE`. The file is created only when the archive is complete. */
export async function backUp({ file, blobs: withBlobs, recipients }: BackUpOptions): Promise<void> {
  const say = (line: string) => console.error(line)
  if (file !== '-' && existsSync(file)) throw existsError(file)
  const env = readEnv()
  const config = readConfig(env)
  const spaceKey = await findSpaceKey(config.dataDir)
  await withDatabase(say, async (databaseUrl) => {
    await prepareDatabase(databaseUrl, ({ pool }) => assertInOnePlace(pool))
    const blobs = withBlobs ? await openBlobs(config, blobSecrets(readGivenSecrets(env))) : undefined
    let done: BackupManifest | undefined
    // With a random part: another backup to the same file writes a file of its own.
    const partial = path.join(path.dirname(file), `.${path.basename(file)}.${randomBytes(4).toString('hex')}.partial`)
    const stop = stopOnSignal(() => {
      if (file !== '-') rmSync(partial, { force: true })
    })
    const entries = writeBackup({
      databaseUrl,
      blobs,
      spaceKey: spaceKey?.thumbprint,
      say,
      onSettled: () => assertMigrated(databaseUrl),
      onSnapshot: (header) => {
        say(`Snapshot: ${header.snapshot_at}. Everything that was acknowledged before this time is in the archive.`)
        for (const line of describeMissing(header, spaceKey)) say(line)
      },
      onDone: (manifest) => (done = manifest),
      signal: stop.signal,
    })
    try {
      const plain = Readable.from(entries)
      const archive = recipients.length > 0 ? await encryptTo(recipients, plain) : plain
      await (file === '-' ? writeTo(process.stdout, archive, stop.signal) : writeFile(file, partial, archive, stop.signal))
    } catch (error) {
      throw stop.signal.aborted ? stop.signal.reason : error
    } finally {
      stop.dispose()
      // Releases the hold on stored files, also if the backup failed, so that they can be deleted again.
      await entries.return(undefined).catch(() => undefined)
      blobs?.close()
    }
    if (done) say(describe(done))
  })
}

async function assertMigrated(databaseUrl: string): Promise<void> {
  const { applied } = await prepareDatabase(databaseUrl, (db) => findPendingWork(db.pool))
  if (applied.length > 0) throw new StartError(`the database does not have migration ${applied[0]} yet: run atrium migrate first`)
}

/** The signing key of blob URLs derives from the master key. A backup makes no URLs, so it needs none. */
export function blobSecrets({ s3 }: GivenSecrets): Pick<Secrets, 'masterKeys' | 's3'> {
  return { masterKeys: [Buffer.alloc(32)], s3 }
}

/** The first SIGINT or SIGTERM aborts the backup, a second one ends the process at once, after `beforeEnd`. */
function stopOnSignal(beforeEnd: () => void): { signal: AbortSignal; dispose(): void } {
  const stopped = new AbortController()
  const onSignal = (name: NodeJS.Signals) => {
    if (!stopped.signal.aborted) return stopped.abort(new StartError('the backup was stopped'))
    dispose()
    beforeEnd()
    process.kill(process.pid, name)
  }
  const dispose = () => {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, onSignal)
  }
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, onSignal)
  return { signal: stopped.signal, dispose }
}

async function writeFile(file: string, partial: string, archive: Readable, signal: AbortSignal): Promise<void> {
  try {
    await pipeline(archive, createWriteStream(partial, { flags: 'wx', mode: 0o600, flush: true }), { signal })
    await nameNew(partial, file)
  } catch (error) {
    await rm(partial, { force: true })
    throw explain(file, error)
  }
}

/** Gives the whole archive its name. A file that has appeared under it since, such as that of another backup, stays. */
async function nameNew(partial: string, file: string): Promise<void> {
  try {
    await link(partial, file)
  } catch (error) {
    // Without EEXIST, it is a file system without hard links. A file that appears between these two steps is replaced.
    if (codeOf(error) === 'EEXIST' || existsSync(file)) throw existsError(file)
    return rename(partial, file)
  }
  await rm(partial)
}

const existsError = (file: string) => new StartError(`${file} exists already: choose another name`)

/** Errors of the file system, such as ENOSPC, EACCES and ENOENT, need no stack. */
function explain(name: string, error: unknown): unknown {
  if (!/^E[A-Z]+$/.test(codeOf(error) ?? '')) return error
  return new StartError(`${name} cannot be written: ${messageOf(error)}`, { cause: error })
}

async function writeTo(output: NodeJS.WriteStream, archive: Readable, signal: AbortSignal): Promise<void> {
  let failure: unknown
  // Without a listener, a full disk or a reader that has ended would be an uncaught error.
  output.on('error', (error) => (failure ??= error))
  try {
    for await (const chunk of archive) {
      if (failure !== undefined) break
      signal.throwIfAborted()
      if (!output.write(chunk)) await once(output, 'drain', { signal })
    }
  } catch (error) {
    throw explain('standard output', error)
  }
  if (failure !== undefined) throw explain('standard output', failure)
}

function describe({ tables, blobs }: BackupManifest): string {
  const rows = Object.values(tables).reduce((sum, table) => sum + table.rows, 0)
  const files =
    blobs === null ? 'no stored files' : `${blobs.count} stored ${blobs.count === 1 ? 'file' : 'files'} with ${blobs.bytes} bytes`
  return `Done: ${rows} rows in ${Object.keys(tables).length} tables, ${files}.`
}
