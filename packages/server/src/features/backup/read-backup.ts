import { createHash, type Hash } from 'node:crypto'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { isPassing } from '@atrium/traffic/database-errors'
import type { Connection } from '@atrium/traffic/postgres/connection'
import { messageOf } from '#errors/caught.ts'
import { StartError } from '#errors/start-error.ts'
import { isBlobKey } from '#ports/blobs/blob-key.ts'
import { BlobError, type Blobs } from '#ports/blobs/blobs.ts'
import { isRestored } from './backup-tables.ts'
import {
  backupFormat,
  blobListName,
  blobListsFolder,
  blobsFolder,
  headerName,
  manifestName,
  parseHeader,
  parseManifest,
  tablePartName,
  tablesFolder,
  type BackupHeader,
  type BackupManifest,
  type ListedBlob,
} from './manifest.ts'
import { beginLoad, commitLoad, copyIn, findMime } from './restore-store.ts'
import { describeSnapshot } from './snapshot-store.ts'
import { readTar, type TarEntry } from './tar.ts'

export interface ReadOptions {
  connection: Connection
  /** Absent: the blobs of the archive are skipped. */
  blobs: Blobs | undefined
  /**
   * Called before anything is written: rejects the archive, or creates the tables as they were when it was written.
   */
  prepare(header: BackupHeader): Promise<void>
}

/** The archive is incomplete, or was altered. */
export class DamagedBackupError extends StartError {
  constructor(problem: string, options?: ErrorOptions) {
    super(`the archive is damaged: ${printable(problem)}`, options)
    this.name = 'DamagedBackupError'
  }
}

/** Errors quote what an archive has: no control character of it reaches a terminal, and no text of any length. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, '?').slice(0, 400)
}

/** The largest size of the header, the manifest and a list, and of a part of a table with and without compression. */
const maxFileBytes = 64 * 1024 * 1024

/** The largest number of stored files in a list. */
const maxListed = 1_000

/**
 * Loads an archive into the database and the blob store, in constant memory, and verifies the hashes in the archive.
 * Throws DamagedBackupError if they differ.
 */
export async function readBackup(archive: AsyncIterable<Buffer>, options: ReadOptions): Promise<BackupHeader> {
  const entries = readTar(archive)
  const header = await readHeader(entries)
  await options.prepare(header)
  const load = new Load(header, options)
  try {
    await assertKnownNames(header, options.connection)
    await load.begin()
    for await (const entry of entries) await load.take(entry)
    load.assertComplete()
    return header
  } catch (error) {
    throw explain(error)
  }
}

/** A full disk or a lost connection is not a fault of the archive. A value that the database rejects is one. */
function explain(error: unknown): StartError {
  if (error instanceof StartError) return error
  if (error instanceof BlobError || isPassing(error)) {
    const cause = error instanceof Error ? error.cause : undefined
    const reason = cause instanceof Error ? `${messageOf(error)}: ${cause.message}` : messageOf(error)
    return new StartError(`the restore failed: ${reason}. Run it again`, { cause: error })
  }
  return new DamagedBackupError(messageOf(error), { cause: error })
}

async function readHeader(entries: AsyncGenerator<TarEntry>): Promise<BackupHeader> {
  try {
    const { value: first } = await entries.next()
    if (first?.name !== headerName) throw new Error('it has no header')
    return parseHeader((await readWhole(first)).toString('utf8'))
  } catch (error) {
    throw new StartError(`this is not an archive of atrium backup: ${printable(messageOf(error))}`)
  }
}

/** The archive is not trusted: its names are compared with the schema before they become part of a statement. */
async function assertKnownNames({ tables, sequences }: BackupHeader, connection: Connection): Promise<void> {
  const known = await describeSnapshot(connection)
  for (const [table, columns] of Object.entries(tables)) {
    const there = Object.hasOwn(known.tables, table) && isRestored(table) ? known.tables[table] : undefined
    if (!there) throw new Error(`it has a table ${table}, which its migrations do not make`)
    const foreign = columns.find((column) => !there.includes(column))
    if (foreign !== undefined) throw new Error(`it has a column ${table}.${foreign}, which its migrations do not make`)
    if (new Set(columns).size < there.length) throw new Error(`it does not have all columns of ${table}`)
  }
  const foreign = Object.keys(sequences).find((name) => !Object.hasOwn(known.sequences, name))
  if (foreign !== undefined) throw new Error(`it has a sequence ${foreign}, which its migrations do not make`)
}

class Load {
  readonly #header: BackupHeader
  readonly #connection: Connection
  readonly #blobs: Blobs | undefined
  readonly #tables = new Map<string, { parts: number; rows: number; bytes: number; hash: Hash }>()
  readonly #lists = createHash('sha256')
  /** The files since the last list; at most as many as one list has. */
  #unlisted: ListedBlob[] = []
  #blobCount = 0
  #blobBytes = 0
  #listCount = 0
  #lastBlob = ''
  #foreignKeys: Awaited<ReturnType<typeof beginLoad>> | undefined
  #manifest: BackupManifest | undefined

  constructor(header: BackupHeader, { connection, blobs }: ReadOptions) {
    this.#header = header
    this.#connection = connection
    this.#blobs = blobs
  }

  async begin(): Promise<void> {
    this.#foreignKeys = await beginLoad(this.#connection, Object.keys(this.#header.tables))
  }

  async take(entry: TarEntry): Promise<void> {
    if (this.#manifest) throw new Error('there is something behind the manifest')
    if (entry.name.startsWith(tablesFolder)) return this.#takeRows(entry)
    await this.#commit()
    if (entry.name.startsWith(blobsFolder)) return this.#takeBlob(entry)
    if (entry.name.startsWith(blobListsFolder)) return this.#takeList(entry)
    if (entry.name !== manifestName) throw new Error(`${entry.name} does not belong to an archive`)
    this.#manifest = parseManifest((await readWhole(entry)).toString('utf8'))
  }

  /** Throws if something is missing or differs from the manifest. */
  assertComplete(): void {
    const manifest = this.#manifest
    if (!manifest) throw new Error('it ends without a manifest')
    if (manifest.format !== backupFormat || manifest.snapshot_at !== this.#header.snapshot_at)
      throw new Error('its manifest is that of another archive')
    const unknown = Object.keys(manifest.tables).find((table) => !Object.hasOwn(this.#header.tables, table))
    if (unknown !== undefined) throw new Error(`its manifest has a table ${unknown}, and its header does not`)
    if ((manifest.blobs !== null) !== this.#header.blobs) throw new Error('manifest and header differ about stored files')
    for (const table of Object.keys(this.#header.tables)) {
      const { rows = 0, bytes = 0, hash = createHash('sha256') } = this.#tables.get(table) ?? {}
      const listed = manifest.tables[table]
      if (listed?.rows !== rows || listed.bytes !== bytes || listed.sha256 !== hash.digest('hex'))
        throw new Error(`table ${table} is not what the manifest says`)
    }
    const { count, bytes, sha256 } = manifest.blobs ?? { count: 0, bytes: 0, sha256: createHash('sha256').digest('hex') }
    const isWhole = this.#unlisted.length === 0 && count === this.#blobCount && bytes === this.#blobBytes
    if (!isWhole || sha256 !== this.#lists.digest('hex')) throw new Error('the stored files are not those of the manifest')
  }

  async #takeRows(entry: TarEntry): Promise<void> {
    const table = entry.name.slice(tablesFolder.length).split('/')[0] ?? ''
    const columns = Object.hasOwn(this.#header.tables, table) ? this.#header.tables[table] : undefined
    const state = this.#tables.get(table) ?? { parts: 0, rows: 0, bytes: 0, hash: createHash('sha256') }
    // Parts have numbers without a gap, so none is loaded twice.
    if (!columns || !this.#foreignKeys || entry.name !== tablePartName(table, ++state.parts))
      throw new Error(`${entry.name} is at a wrong place`)
    this.#tables.set(table, state)
    const data = await promisify(gunzip)(await readWhole(entry), { maxOutputLength: maxFileBytes })
    state.hash.update(data)
    state.bytes += data.length
    state.rows += await copyIn(this.#connection, table, columns, data)
  }

  /**
   * Called after the last table and before the first blob, so that the transaction is not open while blobs are
   * stored.
   */
  async #commit(): Promise<void> {
    if (!this.#foreignKeys) return
    await commitLoad(this.#connection, this.#header, this.#foreignKeys)
    this.#foreignKeys = undefined
  }

  async #takeBlob({ name, bytes, body }: TarEntry): Promise<void> {
    const key = name.slice(blobsFolder.length)
    if (!isBlobKey(key)) throw new Error(`${name} cannot be the name of a stored file`)
    // Blobs come in the order of their keys, so none is stored twice.
    if (key <= this.#lastBlob || !this.#header.blobs) throw new Error(`${name} is at a wrong place`)
    if (this.#unlisted.length === maxListed) throw new Error(`${name} is behind more stored files than a list has`)
    this.#lastBlob = key
    const hash = createHash('sha256')
    const hashed = hashing(body, hash)
    if (this.#blobs) {
      const mime = (await findMime(this.#connection, key)) ?? 'application/octet-stream'
      await this.#blobs.write(key, { stream: Readable.from(hashed), bytes }, { mime })
    } else for await (const _ of hashed);
    this.#unlisted.push({ key, bytes, sha256: hash.digest('hex') })
  }

  async #takeList(entry: TarEntry): Promise<void> {
    if (entry.name !== blobListName(++this.#listCount)) throw new Error(`${entry.name} is at a wrong place`)
    const text = await readWhole(entry)
    const expected = this.#unlisted.map((blob) => `${JSON.stringify(blob)}\n`).join('')
    if (text.toString('utf8') !== expected) throw new Error(`the stored files before ${entry.name} are not those that it lists`)
    this.#lists.update(text)
    this.#blobCount += this.#unlisted.length
    this.#blobBytes += this.#unlisted.reduce((sum, { bytes }) => sum + bytes, 0)
    this.#unlisted = []
  }
}

async function* hashing(body: AsyncIterable<Buffer>, hash: Hash): AsyncGenerator<Buffer> {
  for await (const chunk of body) {
    hash.update(chunk)
    yield chunk
  }
}

async function readWhole({ name, bytes, body }: TarEntry): Promise<Buffer> {
  if (bytes > maxFileBytes) throw new Error(`${name} is too large`)
  const chunks: Buffer[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks)
}
