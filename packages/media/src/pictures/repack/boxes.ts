import { PictureError } from '../picture-error.ts'
import type { SourceFile } from './source-file.ts'

/** A box of the ISO base media file format (ISO/IEC 14496-12, 4.2). */
export interface Box {
  type: string
  start: number
  /** The position after its header. */
  payload: number
  end: number
}

const maxBoxes = 1_000

/** The boxes of a file, which must fill it to its last byte. */
export function* boxesOf(source: SourceFile): Generator<Box> {
  let count = 0
  for (let start = 0; start < source.bytes; count++) {
    if (count === maxBoxes) throw broken()
    const box = boxAt(source.take(start, Math.min(16, source.bytes - start)), start, source.bytes)
    yield box
    start = box.end
  }
}

/** The boxes within a part of a buffer. */
export function boxesIn(buffer: Buffer, from: number, end: number): Box[] {
  const boxes: Box[] = []
  for (let start = from; start < end;) {
    if (boxes.length === maxBoxes) throw broken()
    const box = boxAt(buffer.subarray(start, Math.min(start + 16, end)), start, end)
    boxes.push(box)
    start = box.end
  }
  return boxes
}

function boxAt(header: Buffer, start: number, limit: number): Box {
  if (header.length < 8) throw broken()
  const short = header.readUInt32BE(0)
  const long = short === 1
  if (long && header.length < 16) throw broken()
  // 0: it extends to the end of its container.
  const size = long ? Number(header.readBigUInt64BE(8)) : short === 0 ? limit - start : short
  const headerBytes = long ? 16 : 8
  if (size < headerBytes || start + size > limit) throw broken()
  return { type: header.toString('latin1', 4, 8), start, payload: start + headerBytes, end: start + size }
}

function broken(): PictureError {
  return new PictureError('refused', 'The picture is damaged: one of its boxes is larger than the file.')
}
