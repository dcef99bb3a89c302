import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { uploadMaxBytes } from '@atrium/contract/making'
import type { Context } from '#features/context.ts'
import { BlobError } from '#ports/blobs/blobs.ts'
import { originalKey, uploadKey } from '#features/blob-deletions/blob-keys.ts'
import { downloadBlobTo } from '../download-blob-to.ts'
import { assertAnnounced, assertType, headBytes, tailBytes, type StoredUpload } from './upload-checks.ts'
import type { UploadLease } from './upload-lease.ts'
import type { Upload } from './upload-store.ts'

/** Cleaning can make a picture larger than its upload. */
const maxCleanBytes = 512 * 1024 * 1024

/** Checks an uploaded picture and stores a cleaned copy. The uploaded bytes are never served. */
export function storePicture(
  { blobs, pictures }: Pick<Context, 'blobs' | 'pictures'>,
  upload: Upload,
  lease: UploadLease,
): Promise<StoredUpload> {
  return pictures.withFolder(async (folder) => {
    const source = join(folder, 'source')
    assertAnnounced(upload, await downloadBlobTo(source, blobs, uploadKey(upload, upload.artifactId), uploadMaxBytes))
    assertType(upload.mime, await partOf(source, 0, headBytes), await partOf(source, upload.bytes - tailBytes, tailBytes))
    const clean = join(folder, 'clean')
    const { tenantId } = upload
    const { width, height } = await pictures.clean(source, clean, await pictures.inspect(source, tenantId), tenantId)
    const { size: bytes } = await stat(clean)
    const sha256 = await hashOf(clean)
    const key = originalKey(upload, upload.artifactId)
    const { mime } = upload
    const file = createReadStream(clean)
    const stream = Readable.from(lease.confirmedBeforeEnd(file), { objectMode: false })
    try {
      await lease.store(() => blobs.write(key, { stream, bytes }, { mime, once: true }))
      return { mime, width, height, bytes, sha256 }
    } catch (error) {
      if (!(error instanceof BlobError && error.code === 'exists')) throw error
    } finally {
      // A failed write does not read the file to its end.
      file.destroy()
    }
    // The blob of an earlier check that stopped between its write and its commit. It is cleaned too, and is never
    // replaced.
    const kept = join(folder, 'kept')
    const stored = await downloadBlobTo(kept, blobs, key, maxCleanBytes)
    const size = await pictures.inspect(kept, tenantId)
    return { mime, width: size.width, height: size.height, ...stored }
  }, upload.tenantId)
}

async function partOf(path: string, from: number, length: number): Promise<Buffer> {
  const file = await open(path, 'r')
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, Math.max(0, from))
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  return hash.digest('hex')
}
