import type { UploadMime } from '@atrium/contract/making'
import { UploadMismatch } from '@atrium/media/video/upload-mismatch'
import type { DownloadedBlob } from '../download-blob-to.ts'
import type { Upload } from './upload-store.ts'

/** The blob that is served for a checked upload. */
export interface StoredUpload extends DownloadedBlob {
  mime: string
  width: number
  height: number
}

/** Throws if length or hash differ from those announced. */
export function assertAnnounced(upload: Pick<Upload, 'bytes' | 'sha256'>, found: DownloadedBlob): void {
  if (found.bytes !== upload.bytes)
    throw new UploadMismatch(`${found.bytes} bytes arrived instead of the ${upload.bytes} announced.`)
  if (upload.sha256 !== null && found.sha256 !== upload.sha256)
    throw new UploadMismatch('The SHA-256 of the bytes is not the one announced.')
}

/** How much of the start of a file is checked: a little more than browsers sniff. */
export const headBytes = 1_024
/** How much of the end of a file is checked: the record that makes a file a ZIP archive lies within it. */
export const tailBytes = 22 + 65_535

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
export function assertType(mime: UploadMime, head: Buffer, tail: Buffer): void {
  if (sniffType(head) !== mime) throw new UploadMismatch(`The bytes are not of the type ${mime}.`)
  if (holds(head, headMarks) || holds(tail, pageMarks)) throw new UploadMismatch('The file is also a page or a document.')
  // The end record of a ZIP archive, with its disk numbers.
  if (tail.includes(Buffer.from('PK\x05\x06\0\0\0\0', 'latin1'))) throw new UploadMismatch('The file is also an archive.')
}

function holds(bytes: Buffer, marks: string[]): boolean {
  const text = bytes.toString('latin1').toLowerCase()
  return marks.some((mark) => text.includes(mark))
}
