import type { Readable } from 'node:stream'

/**
 * A blob store: on disk or S3. A blob becomes visible only when it is complete, and a reader that has started keeps
 * the same bytes. The platform chooses the keys (see blob-key.ts). The database records the type of a blob; the store
 * gets it for its own responses.
 */
export interface Blobs {
  /**
   * A URL that accepts only these bytes: the store rejects another type, length or key, and uploads after its expiry.
   */
  presignUpload(upload: UploadTerms): Promise<SignedUpload>
  stat(key: string): Promise<BlobStat | undefined>
  /**
   * Reads the blob or a part of it. Destroy the stream if it is not read to its end. Errors: `not_found`,
   * `invalid_range`
   */
  read(key: string, range?: ByteRange): Promise<BlobContent>
  /**
   * Replaces an existing blob or, with `once`, fails with `exists`. Without such a condition in the store (S3), this
   * is checked before the write. Fails with `mismatch` if the stream has another length than announced.
   */
  write(key: string, body: Buffer | SizedStream, options: WriteOptions): Promise<BlobStat>
  /**
   * Copies an upload to its final key. The upload URL allows its holder to replace the bytes at fromKey but never those
   * at toKey, so validate them after the copy. An existing blob at toKey is kept, so a repeat after a crash or a second
   * upload changes nothing. The upload stays until it is deleted. The caller must prevent concurrent calls. Errors:
   * `not_found`
   */
  promote(fromKey: string, toKey: string): Promise<BlobStat>
  /** Deletes a blob. A missing one is not an error. */
  delete(keys: string[]): Promise<void>
  /** Deletes every blob under a prefix that ends with a slash. */
  deletePrefix(prefix: string): Promise<void>
  /** Lists blobs in the byte order of their keys. The prefix ends in a slash, or is empty. */
  list(prefix: string, options?: { cursor?: string | undefined; limit?: number }): Promise<BlobPage>
  /** Removes partial writes of killed processes, and returns how many. */
  sweep(): Promise<number>
  /** The disk that the blobs are on; undefined: they are not on a disk of this machine. */
  disk(): Promise<{ freeBytes: number; totalBytes: number } | undefined>
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
  /** Headers that must be sent unchanged. */
  headers: Record<string, string>
  expiresAt: Date
}

export interface WriteOptions {
  mime: string
  /** Keeps an existing blob and fails with `exists`. */
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
  /** The requested bytes. */
  stream: Readable
  /** The length of `stream`; `bytes` is the length of the whole blob. */
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

export type BlobErrorCode = 'not_found' | 'exists' | 'invalid_range' | 'mismatch' | 'invalid_key' | 'superseded' | 'unavailable'

export class BlobError extends Error {
  readonly code: BlobErrorCode

  constructor(code: BlobErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
