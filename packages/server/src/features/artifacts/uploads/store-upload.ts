import { pipeline } from 'node:stream/promises'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { limits } from '@atrium/contract/limits'
import type { UploadMime } from '@atrium/contract/making'
import { FairSemaphore } from '@atrium/media/pictures/fair-semaphore'
import { PictureError } from '@atrium/media/pictures/picture-error'
import { parseMp4 } from '@atrium/media/video/parse-mp4'
import { parseWebm } from '@atrium/media/video/parse-webm'
import { PullParser } from '@atrium/media/video/pull-parser'
import { UploadMismatch } from '@atrium/media/video/upload-mismatch'
import { originalKey, uploadKey } from '#features/blob-deletions/blob-keys.ts'
import type { Context } from '#features/context.ts'
import { releaseChunk, assertBytes } from '#http/release-chunk.ts'
import { BlobError, type Blobs } from '#ports/blobs/blobs.ts'
import { type DownloadedBlob, downloadBlobTo } from '../download-blob-to.ts'
import type { UploadLease } from './upload-lease.ts'
import type { Upload } from './upload-store.ts'

/** The blob that is served for a checked upload. */
export interface StoredUpload extends DownloadedBlob {
  mime: string
  width: number
  height: number
}

/** Throws if length or hash differ from those announced. */
function assertAnnounced(upload: Pick<Upload, 'bytes' | 'sha256'>, found: DownloadedBlob): void {
  if (found.bytes !== upload.bytes)
    throw new UploadMismatch(`${found.bytes} bytes arrived instead of the ${upload.bytes} announced.`)
  if (upload.sha256 !== null && found.sha256 !== upload.sha256)
    throw new UploadMismatch('The SHA-256 of the bytes is not the one announced.')
}

/** How much of the start of a file is checked: a little more than browsers sniff. */
const headBytes = 1_024
/** How much of the end of a file is checked: the record that makes a file a ZIP archive lies within it. */
const tailBytes = 22 + 65_535

const imageBrands = new Set(['avif', 'avis', 'heic', 'heix', 'hevc', 'mif1', 'msf1'])

/** The type that the first bytes indicate; undefined: none that is accepted. */
function sniffType(head: Buffer): UploadMime | undefined {
  const text = head.toString('latin1', 0, 16)
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (text.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  if (/^GIF8[79]a/.test(text)) return 'image/gif'
  if (/^RIFF[^]{4}WEBP/.test(text)) return 'image/webp'
  if (text.startsWith('\x1a\x45\xdf\xa3')) return 'video/webm'
  if (text.slice(4, 8) !== 'ftyp') return undefined
  const brand = text.slice(8, 12)
  if (brand === 'avif' || (brand === 'mif1' && head.toString('latin1', 16, 64).includes('avif'))) return 'image/avif'
  return imageBrands.has(brand) ? undefined : 'video/mp4'
}

/**
 * Some program reads a file that starts or ends with one of these as a page, a script or a document, whatever its
 * type.
 */
const pageMarks = ['<!doctype', '<html', '<script', '<?php']
const headMarks = [...pageMarks, '<head', '<body', '<svg', '%pdf-']

/** Throws if the file is not of the announced type, or can be read as another type too. */
function assertType(mime: UploadMime, head: Buffer, tail: Buffer): void {
  const found = sniffType(head)
  if (found !== mime) throw new UploadMismatch(`The bytes are not of the type ${mime}${found ? `, but ${found}` : ''}.`)
  if (holds(head, headMarks) || holds(tail, pageMarks)) throw new UploadMismatch('The file is also a page or a document.')
  // The end record of a ZIP archive, with its disk numbers.
  if (tail.includes(Buffer.from('PK\x05\x06\0\0\0\0', 'latin1'))) throw new UploadMismatch('The file is also an archive.')
}

function holds(bytes: Buffer, marks: string[]): boolean {
  const text = bytes.toString('latin1').toLowerCase()
  return marks.some((mark) => text.includes(mark))
}

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
    assertAnnounced(upload, await downloadBlobTo(source, blobs, uploadKey(upload, upload.artifactId), limits.uploadBytes))
    assertType(
      upload.mime,
      await readFileRange(source, 0, headBytes),
      await readFileRange(source, upload.bytes - tailBytes, tailBytes),
    )
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

async function readFileRange(path: string, from: number, length: number): Promise<Buffer> {
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
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

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
 * Copies an uploaded video to its final key and checks it there, where the upload's address cannot overwrite it.
 * Nobody can read it until the artifact is ready. If the check fails, the blob is deleted.
 */
export function storeVideo({ blobs }: Pick<Context, 'blobs'>, upload: Upload, lease: UploadLease): Promise<StoredUpload> {
  return checks.run(upload.tenantId, 1, () => promoteAndCheck(blobs, upload, lease))
}

async function promoteAndCheck(blobs: Blobs, upload: Upload, lease: UploadLease): Promise<StoredUpload> {
  const key = originalKey(upload, upload.artifactId)
  const { bytes, etag } = await lease.store(() => blobs.promote(uploadKey(upload, upload.artifactId), key))
  if (bytes !== upload.bytes) throw new UploadMismatch(`${bytes} bytes arrived instead of the ${upload.bytes} announced.`)
  const head = await readBlobRange(blobs, key, 0, Math.min(headBytes, bytes) - 1)
  assertType(upload.mime, head, await readBlobRange(blobs, key, Math.max(0, bytes - tailBytes), bytes - 1))
  const parser = new PullParser(upload.mime === 'video/webm' ? parseWebm(bytes) : parseMp4(bytes))
  const hash = createHash('sha256')
  let read = 0
  const { stream, etag: readEtag } = await blobs.read(key)
  for await (const chunk of stream) {
    assertBytes(chunk)
    hash.update(chunk)
    parser.push(chunk)
    read += chunk.length
    releaseChunk(chunk)
  }
  const sha256 = hash.digest('hex')
  assertAnnounced(upload, { bytes: read, sha256 })
  const size = parser.end()
  if (!size) throw new UploadMismatch('The video is truncated.')
  // The ETag differs if the blob store executed the late copy of an earlier check.
  const after = await blobs.stat(key)
  if (readEtag !== etag || after?.etag !== etag) throw new BlobError('unavailable', 'the video was replaced while it was checked')
  return { mime: upload.mime, ...size, bytes, sha256 }
}

async function readBlobRange(blobs: Blobs, key: string, start: number, end: number): Promise<Buffer> {
  return buffer((await blobs.read(key, { start, end })).stream)
}
