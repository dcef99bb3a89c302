import type { SavedBlob } from './save-blob.ts'
import type { Upload } from './store.ts'
import { UploadMismatch } from '@atrium/media/video/upload-mismatch'

/** Throws where the length or the hash is not the one announced. */
export function assertAnnounced(upload: Pick<Upload, 'bytes' | 'sha256'>, found: SavedBlob): void {
  if (found.bytes !== upload.bytes)
    throw new UploadMismatch(`${found.bytes} bytes arrived instead of the ${upload.bytes} announced.`)
  if (upload.sha256 !== null && found.sha256 !== upload.sha256)
    throw new UploadMismatch('The SHA-256 of the bytes is not the one announced.')
}
