import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { access, readFile } from 'node:fs/promises'
import type { Connection } from '@atrium/traffic/postgres/connection'
import { readConfig } from '#config/config.ts'
import { readEnv } from '#config/env.ts'
import { readWrappedMasterKeys } from '#config/kms-config.ts'
import { readGivenSecrets, readMasterKeyFile } from '#config/secrets.ts'
import { Vault } from '#crypto/vault/vault.ts'
import { migrate } from '#db/migrate.ts'
import { migrationsFolder, readMigrationFiles } from '#db/migration-files.ts'
import { messageOf } from '#errors/caught.ts'
import { StartError } from '#errors/start-error.ts'
import { openArchive } from '#features/backup/age.ts'
import type { BackupHeader } from '#features/backup/manifest.ts'
import { DamagedBackupError, readBackup } from '#features/backup/read-backup.ts'
import { claimEmptyDatabase, finishRestore } from '#features/backup/restore-store.ts'
import { dbOn, openConnection } from '#features/backup/snapshot-store.ts'
import { confirmRestore } from '#features/backup/window-store.ts'
import { verifyRestore } from '#features/backup/verify-restore.ts'
import type { Blobs } from '#ports/blobs/blobs.ts'
import { openBlobs } from '#ports/blobs/open-blobs.ts'
import { unwrapMasterKeys } from '#ports/master-key/unwrap-master-keys.ts'
import { compareKeys, findSpaceKey } from './archive-keys.ts'
import { blobSecrets } from './back-up.ts'
import { withDatabase } from './migrate-database.ts'
import { prepareDatabase } from './prepare-database.ts'

export interface RestoreOptions {
  file: string
  /** A file with age identities, for an encrypted archive. */
  identity?: string | undefined
  verify: boolean
  blobs: boolean
}

/**
 * `atrium restore FILE`: loads the archive into an empty database. No process starts on that database before the
 * restore is complete.
 */
export async function restore({ file, identity, verify, blobs: withBlobs }: RestoreOptions): Promise<void> {
  const say = (line: string) => console.error(line)
  await access(file).catch((error: unknown) => Promise.reject(new StartError(`${file} cannot be read: ${messageOf(error)}`)))
  const identities = identity === undefined ? undefined : await readIdentity(identity)
  const env = readEnv()
  const config = readConfig(env)
  const wrapped = readWrappedMasterKeys(env)
  const given = await unwrapMasterKeys(readGivenSecrets(env), wrapped)
  const masterVariable = wrapped ? 'ATRIUM_MASTER_KEY_KMS' : 'ATRIUM_MASTER_KEY'
  const space = await findSpaceKey(config.dataDir)
  await withDatabase(say, async (databaseUrl) => {
    const archive = await openArchive(createReadStream(file, { highWaterMark: 1024 * 1024 }), identities)
    const blobs = withBlobs ? await openBlobs(config, blobSecrets(given)) : undefined
    const connection = await openConnection(databaseUrl)
    // An archive without sealed values needs no master key.
    let vault = new Vault([randomBytes(32)])
    let keyWarning: string | undefined
    try {
      const header = await readBackup(archive, {
        connection,
        blobs,
        prepare: async (found) => {
          await assertKnownMigrations(found)
          const masterKeys = given.masterKeys ?? (await readMasterKeyFile(config.dataDir))
          const masterOrigin = given.masterKeys && masterVariable
          const { lines, refusal, warning } = compareKeys(found, { masterKeys, masterOrigin, space, dataDir: config.dataDir })
          say('The archive does not contain these:')
          for (const line of lines) say(line)
          if (refusal) throw refusal
          keyWarning = warning
          if (masterKeys) vault = new Vault(masterKeys)
          await claimEmptyDatabase(connection)
          await prepareTables(databaseUrl, found)
          say(`Restoring the snapshot of ${found.snapshot_at}.`)
        },
      })
      await prepareDatabase(databaseUrl, (db) => migrate(db.pool, undefined, undefined, { restoring: true }))
      say(
        `Restored. All hashes and counts are those of the manifest${header.blobs && !blobs ? '; stored files were left out' : ''}.`,
      )
      if (verify) await prove(connection, vault, header.blobs ? blobs : undefined, say)
      await finishRestore(connection, header.snapshot_at)
      if (keyWarning !== undefined) say(keyWarning)
      sayWindow(header.snapshot_at, say)
    } finally {
      blobs?.close()
      await connection.end()
    }
  })
}

async function readIdentity(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: unknown) =>
    Promise.reject(new StartError(`${file} cannot be read: ${messageOf(error)}`)),
  )
}

async function assertKnownMigrations({ migrations }: BackupHeader): Promise<void> {
  const files = await readMigrationFiles(migrationsFolder)
  const known = new Map(files.map(({ name, checksum }) => [name, checksum]))
  const foreign = migrations.find(({ name, sha256 }) => known.get(name) !== sha256)
  if (foreign)
    throw new StartError(
      `the archive was written by a newer atrium, or another one: this one does not have its migration ${foreign.name}. Restore with the release that wrote it, or a newer one`,
    )
  const named = new Set(migrations.map(({ name }) => name))
  const missing = files.slice(0, files.findLastIndex(({ name }) => named.has(name)) + 1).find(({ name }) => !named.has(name))
  if (named.size === 0 || missing) throw new DamagedBackupError(`it does not name migration ${missing?.name ?? files[0]?.name}`)
}

/** The tables as they were when the archive was written; later migrations run on the data. */
async function prepareTables(databaseUrl: string, { migrations }: BackupHeader): Promise<void> {
  const only = new Set(migrations.map(({ name }) => name))
  await prepareDatabase(databaseUrl, (db) => migrate(db.pool, undefined, undefined, { only, restoring: true }))
}

async function prove(connection: Connection, vault: Vault, blobs: Blobs | undefined, say: (line: string) => void): Promise<void> {
  const { proved, problems } = await verifyRestore(dbOn(connection), vault, blobs)
  for (const line of proved) say(`✓ ${line}`)
  for (const line of problems) say(`✗ ${line}`)
  if (problems.length > 0) throw new StartError(`${problems.length} problems were found, so nothing can start on this database`)
}

function sayWindow(snapshotAt: string, say: (line: string) => void): void {
  say(
    `The window is from ${snapshotAt} to now. Changes in the window are lost: spent codes, revoked keys and removed entries are valid again.`,
  )
  say(
    'Until you confirm it, only public reads are answered, and no jobs run. docs/operating/backup.md lists what to check first.',
  )
  say('Then: atrium restore --confirm-window')
}

/** `atrium restore --confirm-window`: ends the restrictions after a restore. Every process notices within seconds. */
export async function confirmWindow(): Promise<void> {
  const say = (line: string) => console.error(line)
  await withDatabase(say, async (databaseUrl) => {
    const confirmed = await prepareDatabase(databaseUrl, confirmRestore)
    if (!confirmed) throw new StartError('there is no restore to confirm')
    say(
      `Confirmed: the window from ${confirmed.snapshotAt} to ${confirmed.restoredAt}. All calls are answered again, and jobs run.`,
    )
  })
}
