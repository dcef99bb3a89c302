import type { Readable } from 'node:stream'

/**
 * Where files live: on disk or in an S3 store. A blob appears whole or not at all, and a reader keeps what it began to read. Keys are ours
 * (see blob-key.ts). The type of a blob is for the database to know; a store is told it so that its own answers carry it.
 */
export interface Blobs {
  /** An address that takes exactly these bytes: the store refuses another type, length or key, and any upload after its time. */
  presignUpload(upload: UploadTerms): Promise<SignedUpload>
  /** An address that gives the blob to whoever holds it, as the type named. */
  presignDownload(download: DownloadTerms): Promise<SignedDownload>
  stat(key: string): Promise<BlobStat | undefined>
  /** The blob, or a part of it. Destroy the stream where it is not read to its end. `not_found`, `invalid_range` */
  read(key: string, range?: ByteRange): Promise<BlobContent>
  /**
   * Replaces what was there, or with `once` fails with `exists`: where the store has no such condition of its own (S3), that is asked before.
   * `mismatch` where the stream has not the length that it came with.
   */
  write(key: string, body: Buffer | SizedStream, options: WriteOptions): Promise<BlobStat>
  /**
   * Moves an upload to the place where it stays. Whoever holds the upload's address can replace the bytes at fromKey but never those at
   * toKey: so judge them after promoting. What is at toKey already stays, and the upload goes: a repeat, after a crash or a second upload,
   * changes nothing. Two at the same moment are for the caller to keep apart. `not_found`
   */
  promote(fromKey: string, toKey: string): Promise<BlobStat>
  /** What is not there counts as deleted. */
  delete(keys: string[]): Promise<void>
  /** Everything under a prefix that ends in a slash. */
  deletePrefix(prefix: string): Promise<void>
  /** In the order of the keys' bytes. The prefix ends in a slash, or is empty. */
  list(prefix: string, options?: { cursor?: string | undefined; limit?: number }): Promise<BlobPage>
  /** Removes what killed processes left half-written; says how many. */
  sweep(): Promise<number>
  close(): void
}

export interface UploadTerms {
  key: string
  mime: string
  /** The exact length. */
  bytes: number
  /** SHA-256 in hex. */
  sha256?: string | undefined
  expiresInSeconds: number
}

export interface SignedUpload {
  method: 'PUT'
  url: string
  /** To be sent as they are. */
  headers: Record<string, string>
  expiresAt: Date
}

export interface DownloadTerms {
  key: string
  mime: string
  expiresInSeconds: number
}

export interface SignedDownload {
  url: string
  expiresAt: Date
}

export interface WriteOptions {
  mime: string
  /** What is there already stays. */
  once?: boolean
}

export interface BlobStat {
  bytes: number
  /** Changes with every write; without quotes. */
  etag: string
}

/** Both ends included, as in HTTP. An end past the last byte means the last byte. */
export interface ByteRange {
  start: number
  end: number
}

export interface BlobContent extends BlobStat {
  /** The bytes asked for. */
  stream: Readable
  /** How many come; `bytes` is the length of the whole blob. */
  contentBytes: number
}

export interface SizedStream {
  stream: Readable
  bytes: number
}

export interface BlobPage {
  blobs: { key: string; bytes: number; modifiedAt: Date }[]
  /** Absent on the last page. */
  cursor?: string
}

export type BlobErrorCode = 'not_found' | 'exists' | 'invalid_range' | 'mismatch' | 'invalid_key' | 'unavailable'

export class BlobError extends Error {
  readonly code: BlobErrorCode

  constructor(code: BlobErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
