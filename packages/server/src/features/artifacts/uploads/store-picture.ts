import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { uploadMaxBytes } from '@atrium/contract/making'
import type { Context } from '../../../context.ts'
import { originalKey, uploadKey } from '../blob-keys.ts'
import { assertAnnounced } from './assert-announced.ts'
import { saveBlob } from './save-blob.ts'
import { assertType, headBytes, tailBytes } from './sniff-type.ts'
import type { Upload } from './store.ts'
import type { StoredUpload } from './stored-upload.ts'

/** Checks a picture that was uploaded and stores it cleaned, so that nobody ever gets it as it came. */
export function storePicture({ blobs, pictures }: Pick<Context, 'blobs' | 'pictures'>, upload: Upload): Promise<StoredUpload> {
  return pictures.withFolder(async (folder) => {
    const source = join(folder, 'source')
    assertAnnounced(upload, await saveBlob(blobs, uploadKey(upload, upload.artifactId), source, uploadMaxBytes))
    assertType(upload.mime, await partOf(source, 0, headBytes), await partOf(source, upload.bytes - tailBytes, tailBytes))
    const clean = join(folder, 'clean')
    const { width, height } = await pictures.clean(source, clean, await pictures.inspect(source))
    const { size: bytes } = await stat(clean)
    const sha256 = await hashOf(clean)
    await blobs.write(originalKey(upload, upload.artifactId), { stream: createReadStream(clean), bytes }, { mime: upload.mime })
    return { mime: upload.mime, width, height, bytes, sha256 }
  })
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
