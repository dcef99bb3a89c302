import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import type { Context } from '#features/context.ts'
import { releaseChunk } from '#http/release-chunk.ts'
import { BlobError, type Blobs } from '#ports/blobs/blobs.ts'
import { PictureError } from '@atrium/media/pictures/picture-error'
import { FairSemaphore } from '@atrium/media/pictures/fair-semaphore'
import { originalKey, uploadKey } from '#features/blob-deletions/blob-keys.ts'
import { assertAnnounced, assertType, headBytes, tailBytes, type StoredUpload } from './upload-checks.ts'
import type { UploadLease } from './upload-lease.ts'
import type { Upload } from './upload-store.ts'
import { UploadMismatch } from '@atrium/media/video/upload-mismatch'
import { parseMp4 } from '@atrium/media/video/parse-mp4'
import { parseWebm } from '@atrium/media/video/parse-webm'
import { PullParser } from '@atrium/media/video/pull-parser'

/**
 * Parsing and hashing run on this process's event loop. With few at once, the first are done before the last begin.
 */
const checks = new FairSemaphore({
  permits: 4,
  permitsPerTenant: 3,
  maxWaiting: 200,
  maxWaitingPerTenant: 64,
  timeoutMs: 20_000,
  busy: () => new PictureError('busy', 'Too many videos at once.'),
})

/**
 * Moves an uploaded video to its final key and checks it there, where the upload's address can no longer overwrite it.
 * Nobody can read it until the artifact is ready. If the check fails, the blob is deleted.
 */
export function storeVideo({ blobs }: Pick<Context, 'blobs'>, upload: Upload, lease: UploadLease): Promise<StoredUpload> {
  return checks.run(upload.tenantId, 1, () => promoteAndCheck(blobs, upload, lease))
}

async function promoteAndCheck(blobs: Blobs, upload: Upload, lease: UploadLease): Promise<StoredUpload> {
  const key = originalKey(upload, upload.artifactId)
  const { bytes, etag } = await lease.store(() => blobs.promote(uploadKey(upload, upload.artifactId), key))
  if (bytes !== upload.bytes) throw new UploadMismatch(`${bytes} bytes arrived instead of the ${upload.bytes} announced.`)
  const head = await partOf(blobs, key, 0, Math.min(headBytes, bytes) - 1)
  assertType(upload.mime, head, await partOf(blobs, key, Math.max(0, bytes - tailBytes), bytes - 1))
  const parser = new PullParser(upload.mime === 'video/webm' ? parseWebm(bytes) : parseMp4(bytes))
  const hash = createHash('sha256')
  let read = 0
  const { stream, etag: readEtag } = await blobs.read(key)
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    hash.update(chunk)
    parser.push(chunk)
    read += chunk.length
    releaseChunk(chunk)
  }
  const sha256 = hash.digest('hex')
  assertAnnounced(upload, { bytes: read, sha256 })
  const size = parser.end()
  if (!size) throw new UploadMismatch('The video is cut short.')
  // The ETag differs if the blob store executed the late move of an earlier check.
  const after = await blobs.stat(key)
  if (readEtag !== etag || after?.etag !== etag) throw new BlobError('unavailable', 'the video was replaced while it was checked')
  return { mime: upload.mime, ...size, bytes, sha256 }
}

async function partOf(blobs: Blobs, key: string, start: number, end: number): Promise<Buffer> {
  return buffer((await blobs.read(key, { start, end })).stream)
}
