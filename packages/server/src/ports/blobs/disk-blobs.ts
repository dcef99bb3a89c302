import { createHash, type KeyObject } from 'node:crypto'
import type { Stats } from 'node:fs'
import { mkdir, open, readdir, rm, rmdir, stat, statfs, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { assertBlobKey, assertBlobPrefix } from './blob-key.ts'
import {
  BlobError,
  type BlobContent,
  type BlobPage,
  type Blobs,
  type BlobStat,
  type ByteRange,
  type SignedUpload,
  type SizedStream,
  type UploadTerms,
  type WriteOptions,
} from './blobs.ts'
import { readUploadGrant, signUploadPath, type GrantRefusal, type UploadGrant } from './disk/blob-url.ts'
import { GrowingFiles, superseded, type GrowingFile } from './disk/growing-files.ts'
import { listFiles } from './disk/list-files.ts'
import { readFile } from './disk/read-file.ts'
import { isWithoutLinks, moveInto, writeWhole, type WholeFile } from './disk/write-whole.ts'

export interface DiskBlobsOptions {
  folder: string
  /** Origin under which `addDiskBlobs` answers. */
  publicUrl: string
  /** The first key signs. URLs that another key has signed are accepted. */
  urlKeys: readonly KeyObject[]
  /** Space that stays free on the disk, which the database may share. A file that would use it is rejected. */
  minFreeBytes?: number
}

const pageSize = 1_000
/** A running write touches its file every few seconds. */
const abandonedMs = 60 * 60 * 1_000

/** Stores blobs as files in a folder and signs its own URLs. Several processes may share the folder. */
export class DiskBlobs implements Blobs {
  readonly #folder: string
  readonly #publicUrl: string
  readonly #urlKeys: readonly KeyObject[]
  readonly #growing: GrowingFiles
  /** Of the unfinished files that the last sweep saw: since when at least each one is as it is. */
  #unchangedSinceMs = new Map<string, number>()

  constructor({ folder, publicUrl, urlKeys, minFreeBytes = 128 * 1024 * 1024 }: DiskBlobsOptions) {
    this.#folder = folder
    this.#publicUrl = publicUrl
    this.#urlKeys = urlKeys
    this.#growing = new GrowingFiles(join(folder, '.growing'), minFreeBytes)
  }

  async presignUpload({ key, mime, bytes, sha256, expiresInSeconds }: UploadTerms): Promise<SignedUpload> {
    const expires = Math.floor(Date.now() / 1_000) + expiresInSeconds
    return {
      method: 'PUT',
      url: this.#sign({ key, mime, bytes, sha256, expires }),
      headers: { 'content-type': mime, 'content-length': String(bytes) },
      expiresAt: new Date(expires * 1_000),
    }
  }

  /** What the address of a request allows. */
  grantOf(key: string, query: Record<string, unknown>): UploadGrant | GrantRefusal {
    return readUploadGrant(this.#urlKeys, key, query)
  }

  async stat(key: string): Promise<BlobStat | undefined> {
    const stats = await stat(this.#pathOf(key)).catch(unlessMissing)
    return stats?.isFile() ? statOf(stats) : undefined
  }

  async read(key: string, range?: ByteRange): Promise<BlobContent> {
    const file = await open(this.#pathOf(key), 'r').catch(unlessMissing)
    if (!file) throw new BlobError('not_found', 'no such blob')
    try {
      const stats = await file.stat()
      if (!stats.isFile()) throw new BlobError('not_found', 'no such blob')
      const part = within(range, stats.size)
      return { ...statOf(stats), stream: readFile(file, part), contentBytes: part.end - part.start + 1 }
    } catch (error) {
      await file.close()
      throw error
    }
  }

  async write(key: string, body: Buffer | SizedStream, { once }: Partial<WriteOptions> = {}): Promise<BlobStat> {
    return Buffer.isBuffer(body)
      ? this.#writeWhole(key, this.#growing.forKey(key), { chunks: [body], bytes: body.length, once })
      : this.#writeWhole(key, this.#growing.forKey(key), { chunks: body.stream, bytes: body.bytes, once })
  }

  /** Stores an upload that was sent to a signed URL. A later one to the same URL ends it: `superseded`. */
  async receive({ key, bytes, sha256 }: UploadGrant, chunks: AsyncIterable<Buffer>): Promise<BlobStat> {
    return this.#writeWhole(key, this.#growing.forUpload(key), { chunks, bytes, sha256 })
  }

  async promote(fromKey: string, toKey: string): Promise<BlobStat> {
    const from = this.#pathOf(fromKey)
    const to = this.#pathOf(toKey)
    if (await this.stat(fromKey)) {
      await moveInto(from, to, { once: true, keep: true }).catch((error: NodeJS.ErrnoException) => {
        if (isWithoutLinks(error)) return this.#copy(fromKey, toKey)
        return error.code === 'EEXIST' ? undefined : unlessMissing(error)
      })
    }
    const promoted = await this.stat(toKey)
    if (!promoted) throw new BlobError('not_found', 'no such upload')
    return promoted
  }

  async #copy(fromKey: string, toKey: string): Promise<void> {
    const { stream, contentBytes: bytes } = await this.read(fromKey)
    try {
      await this.write(toKey, { stream, bytes }, { once: true })
    } catch (error) {
      if (!(error instanceof BlobError && error.code === 'exists')) throw error
    } finally {
      stream.destroy()
    }
  }

  async delete(keys: string[]): Promise<void> {
    for (const path of keys.map((key) => this.#pathOf(key))) {
      await unlink(path).catch(unlessMissing)
      await this.#prune(dirname(path))
    }
  }

  async deletePrefix(prefix: string): Promise<void> {
    assertBlobPrefix(prefix)
    const folder = join(this.#folder, prefix)
    // Retries, because another process may write into the folder meanwhile.
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 10 }).catch(unlessMissing)
    await this.#prune(dirname(folder))
  }

  async list(
    prefix: string,
    { cursor = '', limit = pageSize }: { cursor?: string | undefined; limit?: number } = {},
  ): Promise<BlobPage> {
    if (prefix) assertBlobPrefix(prefix)
    const blobs: BlobPage['blobs'] = []
    for await (const key of listFiles(this.#folder, prefix, cursor)) {
      const last = blobs.at(-1)
      if (last && blobs.length >= limit) return { blobs, cursor: last.key }
      const stats = await stat(join(this.#folder, key)).catch(unlessMissing)
      if (stats) blobs.push({ key, bytes: stats.size, modifiedAt: stats.mtime })
    }
    return { blobs }
  }

  async sweep(): Promise<number> {
    const names = (await readdir(this.#growing.folder).catch(unlessMissing)) ?? []
    const unchangedSinceMs = new Map<string, number>()
    let removed = 0
    for (const path of names.map((name) => join(this.#growing.folder, name))) {
      const stats = await stat(path).catch(unlessMissing)
      if (!stats) continue
      const version = `${path} ${stats.mtimeMs}`
      // A process with a clock that is ahead leaves a time in the future. The age of its file counts from when it was seen.
      const sinceMs = Math.min(stats.mtimeMs, this.#unchangedSinceMs.get(version) ?? Date.now())
      unchangedSinceMs.set(version, sinceMs)
      if (Date.now() - sinceMs < abandonedMs) continue
      await rm(path, { force: true })
      removed++
    }
    this.#unchangedSinceMs = unchangedSinceMs
    return removed
  }

  close(): void {}

  #sign(grant: UploadGrant): string {
    assertBlobKey(grant.key)
    const [signing] = this.#urlKeys
    if (!signing) throw new Error('the disk store has no key that signs addresses')
    return `${this.#publicUrl}/v1/blobs/${signUploadPath(signing, grant)}`
  }

  #pathOf(key: string): string {
    assertBlobKey(key)
    return join(this.#folder, key)
  }

  async #writeWhole(key: string, growing: GrowingFile, body: Pick<WholeFile, 'chunks' | 'bytes' | 'sha256' | 'once'>) {
    const path = this.#pathOf(key)
    await this.#makeGrowing()
    const stats = await writeWhole({
      ...body,
      path,
      growing: join(this.#growing.folder, growing.name),
      reserve: (file) => this.#growing.reserve(growing, file, body.bytes),
      assertRoom: (file, part) => this.#growing.assertRoom(growing, file, part),
    }).catch((error: NodeJS.ErrnoException) => {
      // Another upload has taken the name of the file.
      if (growing.isUpload && error.code === 'ENOENT') throw superseded()
      return unlessFull(error)
    })
    return statOf(stats)
  }

  async disk(): Promise<{ freeBytes: number; totalBytes: number }> {
    await this.#makeGrowing()
    const { bavail, bsize, blocks } = await statfs(this.#growing.folder)
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize }
  }

  /** Makes the folder of unfinished files for the first one. */
  async #makeGrowing(): Promise<void> {
    await mkdir(this.#growing.folder, { recursive: true, mode: 0o700 }).catch(unlessFull)
  }

  /** Removes empty parent folders up to the root of the store, so that a deleted collection leaves none. */
  async #prune(folder: string): Promise<void> {
    try {
      for (let at = folder; at !== this.#folder; at = dirname(at)) await rmdir(at)
    } catch {
      // The folder is not empty, or another process has removed it.
    }
  }
}

function statOf({ size, mtimeMs, ino }: Stats): BlobStat {
  // Hashed, so that the inode number is not disclosed.
  return { bytes: size, etag: createHash('sha256').update(`${size} ${mtimeMs} ${ino}`).digest('base64url').slice(0, 22) }
}

function within(range: ByteRange | undefined, size: number): ByteRange {
  if (!range) return { start: 0, end: size - 1 }
  if (range.start >= size || range.end < range.start) throw new BlobError('invalid_range', 'the range lies outside the blob')
  return { start: range.start, end: Math.min(range.end, size - 1) }
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
  throw unavailable(error)
}

function unlessFull(error: NodeJS.ErrnoException): never {
  if (error.code === 'EEXIST') throw new BlobError('exists', 'there is a blob already', { cause: error })
  throw ['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'EMFILE', 'ENFILE', 'EACCES', 'EPERM'].includes(error.code ?? '')
    ? unavailable(error)
    : error
}

function unavailable(error: unknown): BlobError {
  return new BlobError('unavailable', 'the data folder cannot be used', { cause: error })
}
