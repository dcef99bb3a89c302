import type { UploadMime } from '@atrium/contract/making'
import { UploadMismatch } from '@atrium/media/video/upload-mismatch'

/** How much of a file's beginning is looked at: what browsers sniff, and a little more. */
export const headBytes = 1_024
/** A ZIP archive is found by a record within this distance of the end. */
export const tailBytes = 22 + 65_535

const imageBrands = new Set(['avif', 'avis', 'heic', 'heix', 'hevc', 'mif1', 'msf1'])

/** The type that the first bytes say; undefined: none that is taken. */
export function sniffType(head: Buffer): UploadMime | undefined {
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

/** What begins so, or ends so, is read as a page, a program or a document by someone, whatever else it is. */
const pageMarks = ['<!doctype', '<html', '<script', '<?php']
const headMarks = [...pageMarks, '<head', '<body', '<svg', '%pdf-']

/** Throws where a file of the type announced is another one, or another one as well. */
export function assertType(mime: UploadMime, head: Buffer, tail: Buffer): void {
  if (sniffType(head) !== mime) throw new UploadMismatch(`The bytes are not of the type ${mime}.`)
  if (holds(head, headMarks) || holds(tail, pageMarks)) throw new UploadMismatch('The file is also a page or a document.')
  // The record that ends an archive, with its disk numbers.
  if (tail.includes(Buffer.from('PK\x05\x06\0\0\0\0', 'latin1'))) throw new UploadMismatch('The file is also an archive.')
}

function holds(bytes: Buffer, marks: string[]): boolean {
  const text = bytes.toString('latin1').toLowerCase()
  return marks.some((mark) => text.includes(mark))
}
