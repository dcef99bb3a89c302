import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { releaseChunk, assertBytes } from '#http/release-chunk.ts'
import { BlobError, type Blobs } from '#ports/blobs/blobs.ts'

export interface DownloadedBlob {
  bytes: number
  /** Hex. */
  sha256: string
}

/**
 * Copies a blob into a new file, chunk by chunk. Throws BlobError `not_found`, or `mismatch` if the blob exceeds
 * `maxBytes`.
 */
export async function downloadBlobTo(path: string, blobs: Blobs, key: string, maxBytes: number): Promise<DownloadedBlob> {
  const hash = createHash('sha256')
  let bytes = 0
  // Before the blob, whose stream has to be read or destroyed.
  const file = await open(path, 'wx', 0o600)
  try {
    const { stream } = await blobs.read(key)
    for await (const chunk of stream) {
      assertBytes(chunk)
      bytes += chunk.length
      if (bytes > maxBytes) throw new BlobError('mismatch', `more than ${maxBytes} bytes`)
      hash.update(chunk)
      await file.writeFile(chunk)
      releaseChunk(chunk)
    }
  } finally {
    await file.close()
  }
  return { bytes, sha256: hash.digest('hex') }
}
