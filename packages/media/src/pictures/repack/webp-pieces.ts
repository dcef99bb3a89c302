import { PictureError } from '../picture-error.ts'
import type { Piece, SourceFile } from './source-file.ts'

/** The chunks of the WebP container specification, without EXIF and XMP. */
const kept = new Set(['VP8 ', 'VP8L', 'VP8X', 'ALPH', 'ANIM', 'ANMF', 'ICCP'])
const keptInFrame = new Set(['VP8 ', 'VP8L', 'ALPH'])
const exifAndXmp = 0x08 | 0x04

/** Returns a RIFF file with the chunks that make up the picture. */
export function webpPieces(source: SourceFile): Piece[] {
  const header = source.take(0, 12)
  if (header.toString('latin1', 0, 4) !== 'RIFF' || header.toString('latin1', 8) !== 'WEBP') throw broken('it is not a WebP file')
  const end = 8 + header.readUInt32LE(4)
  if (end !== source.bytes) throw broken(end > source.bytes ? 'it is truncated' : 'it has data after its end')
  const pieces: Piece[] = []
  let length = 4
  for (const chunk of chunksOf(source, 12, end)) {
    if (!kept.has(chunk.type)) continue
    if (chunk.type === 'ANMF') assertFrame(source, chunk.start + 8, chunk.end)
    pieces.push(chunk.type === 'VP8X' ? { bytes: withoutMetadata(source.take(chunk.start, chunk.end - chunk.start)) } : chunk)
    length += chunk.end - chunk.start
  }
  const riff = Buffer.from(header)
  riff.writeUInt32LE(length, 4)
  return [{ bytes: riff }, ...pieces]
}

interface Chunk {
  type: string
  start: number
  /** The size of a chunk with its padding. */
  end: number
}

function* chunksOf(source: SourceFile, from: number, end: number): Generator<Chunk> {
  for (let start = from; start < end;) {
    const header = source.take(start, 8)
    const size = header.readUInt32LE(4)
    const next = start + 8 + size + (size % 2)
    if (next > end) throw broken('a part of it is larger than the file')
    yield { type: header.toString('latin1', 0, 4), start, end: next }
    start = next
  }
}

function assertFrame(source: SourceFile, start: number, end: number): void {
  const placeAndTime = 16
  for (const { type } of chunksOf(source, start + placeAndTime, end))
    if (!keptInFrame.has(type)) throw broken('a frame contains more than a picture')
}

function withoutMetadata(chunk: Buffer): Buffer {
  chunk.writeUInt8(chunk.readUInt8(8) & ~exifAndXmp, 8)
  return chunk
}

function broken(why: string): PictureError {
  return new PictureError('refused', `The WebP is not accepted: ${why}.`)
}
