import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { dbOn, beginSnapshot, copyOut, describeSnapshot, openConnection } from './snapshot-store.ts'
import { listKeyIds } from '#crypto/vault/reseal.ts'
import { openDatabase, type Db } from '#db/database.ts'
import { holdOffMigrations } from '#db/migration-lock.ts'
import { StartError } from '#errors/start-error.ts'
import { BlobError, type Blobs } from '#ports/blobs/blobs.ts'
import { holdBlobDeletions, type DeletionHold } from '../blob-deletions/hold-store.ts'
import { isRestored } from './backup-tables.ts'
import {
  backupFormat,
  blobListName,
  blobsFolder,
  headerName,
  manifestName,
  tablePartName,
  type BackupHeader,
  type BackupManifest,
  type ListedBlob,
} from './manifest.ts'
import { tarEnd, tarHeader, tarPadding } from './tar.ts'
import { findUnconfirmedRestore } from './window-store.ts'

export interface BackupOptions {
  databaseUrl: string
  /** Absent: the archive has no blobs. */
  blobs?: Blobs | undefined
  /** The thumbprint of Space's signing key; undefined if the key is not on this machine. */
  spaceKey?: string | undefined
  /** Receives a line while a migration keeps the backup waiting. */
  say?: (line: string) => void
  /** Called when no migration runs, and none can begin. An error ends the backup. */
  onSettled?: () => Promise<void>
  /** Called once the snapshot is fixed. */
  onSnapshot?: (header: BackupHeader) => void
  onDone?: (manifest: BackupManifest) => void
  /** Ends the backup, also while it waits for the database. */
  signal?: AbortSignal
}

/** A file of a table, before compression. */
const partBytes = 8 * 1024 * 1024
/** Higher levels save little, because most large values are ciphertext. */
const compress = (data: Buffer) => promisify(gzip)(data, { level: 1 })

/**
 * Yields the archive, chunk by chunk, in constant memory: the tables of one snapshot, then the blobs. The
 * transaction ends before the blobs are read, so that it does not hold back vacuum for long.
 */
export async function* writeBackup(options: BackupOptions): AsyncGenerator<Buffer> {
  const { databaseUrl, blobs, spaceKey = null, onSnapshot, onDone } = options
  const db = openDatabase({ url: databaseUrl, maxConnections: 1, onConnectionError: () => undefined })
  const connection = await openConnection(databaseUrl)
  const abandon = () => void connection.end()
  options.signal?.addEventListener('abort', abandon)
  let hold: DeletionHold | undefined
  try {
    options.signal?.throwIfAborted()
    // A migration would wait for the locks of the open transaction, and the header describes one state of the schema.
    const admitMigrations = await holdOffMigrations(connection, options.say ?? (() => undefined))
    await options.onSettled?.()
    if (blobs) hold = await holdBlobDeletions(db)
    const at = await beginSnapshot(connection)
    await assertConfirmed(dbOn(connection))
    const { migrations, tables, sequences } = await describeSnapshot(connection)
    const restored = Object.fromEntries(Object.entries(tables).filter(([table]) => isRestored(table)))
    const header: BackupHeader = {
      format: backupFormat,
      snapshot_at: at,
      migrations,
      tables: restored,
      sequences,
      keys: { ...(await listKeyIds(dbOn(connection))), space: spaceKey },
      blobs: blobs !== undefined,
    }
    onSnapshot?.(header)
    const file = fileWriter(new Date(at))
    yield* file(headerName, toJson(header))
    const manifest: BackupManifest = { format: backupFormat, snapshot_at: at, tables: {}, blobs: null }
    for (const [table, columns] of Object.entries(restored)) {
      manifest.tables[table] = yield* writeTable(file, table, copyOut(connection, table, columns))
    }
    await connection.query('commit')
    await admitMigrations()
    if (blobs) manifest.blobs = yield* writeBlobs(file, new Date(at), blobs)
    await hold?.release()
    hold = undefined
    yield* file(manifestName, toJson(manifest))
    yield tarEnd
    onDone?.(manifest)
  } finally {
    options.signal?.removeEventListener('abort', abandon)
    await hold?.release().catch(() => undefined)
    await connection.end()
    await db.close()
  }
}

/**
 * Throws if an earlier restore is not confirmed. An archive does not contain the window of that restore, so after
 * the next restore nobody would know of it.
 */
async function assertConfirmed(db: Db): Promise<void> {
  const unconfirmed = await findUnconfirmedRestore(db)
  if (unconfirmed) {
    throw new StartError(
      `this database was restored from the backup of ${unconfirmed.snapshotAt}, and nobody has confirmed it: run "atrium restore --confirm-window" before a backup`,
    )
  }
}

type WriteFile = (name: string, data: Buffer) => Generator<Buffer>

function fileWriter(at: Date): WriteFile {
  return function* (name, data) {
    yield tarHeader(name, data.length, at)
    yield data
    yield tarPadding(data.length)
  }
}

async function* writeTable(
  file: WriteFile,
  table: string,
  rows: AsyncGenerator<Buffer, number>,
): AsyncGenerator<Buffer, BackupManifest['tables'][string]> {
  const hash = createHash('sha256')
  let bytes = 0
  let waiting: Buffer[] = []
  let waitingBytes = 0
  let part = 0
  const flush = async function* () {
    if (waitingBytes === 0) return
    const data = await compress(Buffer.concat(waiting))
    waiting = []
    waitingBytes = 0
    yield* file(tablePartName(table, ++part), data)
  }
  for (;;) {
    const { done, value } = await rows.next()
    if (done) {
      yield* flush()
      return { rows: value, bytes, sha256: hash.digest('hex') }
    }
    hash.update(value)
    bytes += value.length
    waiting.push(value)
    waitingBytes += value.length
    if (waitingBytes >= partBytes) yield* flush()
  }
}

async function* writeBlobs(
  file: WriteFile,
  at: Date,
  blobs: Blobs,
): AsyncGenerator<Buffer, NonNullable<BackupManifest['blobs']>> {
  const lists = createHash('sha256')
  const total = { count: 0, bytes: 0 }
  let cursor: string | undefined
  let part = 0
  do {
    const page = await blobs.list('', { cursor })
    const listed: ListedBlob[] = []
    for (const { key } of page.blobs) {
      const blob = yield* writeBlob(at, blobs, key)
      if (blob) listed.push(blob)
    }
    const list = Buffer.from(listed.map((blob) => `${JSON.stringify(blob)}\n`).join(''))
    lists.update(list)
    if (listed.length > 0) yield* file(blobListName(++part), list)
    total.count += listed.length
    total.bytes += listed.reduce((sum, { bytes }) => sum + bytes, 0)
    cursor = page.cursor
  } while (cursor)
  return { ...total, sha256: lists.digest('hex') }
}

/**
 * undefined: the blob was deleted. No row of the snapshot names it, because what the snapshot names is held.
 */
async function* writeBlob(at: Date, blobs: Blobs, key: string): AsyncGenerator<Buffer, ListedBlob | undefined> {
  const content = await blobs.read(key).catch((error: unknown) => {
    if (error instanceof BlobError && error.code === 'not_found') return undefined
    throw error
  })
  if (!content) return undefined
  const hash = createHash('sha256')
  let left = content.contentBytes
  yield tarHeader(`${blobsFolder}${key}`, content.contentBytes, at)
  try {
    for await (const chunk of content.stream as AsyncIterable<Buffer>) {
      hash.update(chunk)
      left -= chunk.length
      yield chunk
    }
  } finally {
    content.stream.destroy()
  }
  if (left !== 0) throw new Error(`the stored file ${key} changed while it was read`)
  yield tarPadding(content.contentBytes)
  return { key, bytes: content.contentBytes, sha256: hash.digest('hex') }
}

function toJson(value: object): Buffer {
  return Buffer.from(`${JSON.stringify(value, null, 2)}\n`)
}
