import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { uploadMaxBytes } from '@atrium/contract/making'
import type { Context } from '#features/context.ts'
import { BlobError } from '#ports/blobs/blobs.ts'
import { originalKey, uploadKey } from '#features/blob-deletions/blob-keys.ts'
import { assertAnnounced } from './assert-announced.ts'
import { saveBlob } from './save-blob.ts'
import { assertType, headBytes, tailBytes } from './sniff-type.ts'
import type { Upload } from './store.ts'
import type { StoredUpload } from './stored-upload.ts'
import type { UploadLease } from './upload-lease.ts'

/** Cleaned, a picture may be larger than it was uploaded. */
const maxCleanBytes = 512 * 1024 * 1024

/** Checks a picture that was uploaded and stores it cleaned, so that nobody ever gets it as it came. */
export function storePicture(
  { blobs, pictures }: Pick<Context, 'blobs' | 'pictures'>,
  upload: Upload,
  lease: UploadLease,
): Promise<StoredUpload> {
  return pictures.withFolder(async (folder) => {
    const source = join(folder, 'source')
    assertAnnounced(upload, await saveBlob(blobs, uploadKey(upload, upload.artifactId), source, uploadMaxBytes))
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
      // Not read to its end where it failed, nor at all where it was not begun.
      file.destroy()
    }
    // Of a check that ended after it had stored, and before it could say so: cleaned as well, and never replaced.
    const kept = join(folder, 'kept')
    const stored = await saveBlob(blobs, key, kept, maxCleanBytes)
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
