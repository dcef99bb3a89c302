import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs'
import { PictureError } from '../picture-error.ts'

const windowBytes = 64 * 1024

/**
 * A file that is read at arbitrary positions, a little at a time. A read past its end rejects the picture as
 * truncated.
 */
export class SourceFile {
  readonly bytes: number
  readonly #fd: number
  #window: Buffer = Buffer.alloc(0)
  #at = 0

  constructor(path: string) {
    this.#fd = openSync(path, 'r')
    this.bytes = fstatSync(this.#fd).size
  }

  /** Returns a copy of these bytes. */
  take(at: number, length: number): Buffer {
    if (length > windowBytes) return this.#readAt(at, length)
    if (at < this.#at || at + length > this.#at + this.#window.length) {
      this.#window = this.#readAt(at, Math.min(windowBytes, Math.max(length, this.bytes - at)))
      this.#at = at
    }
    return Buffer.from(this.#window.subarray(at - this.#at, at - this.#at + length))
  }

  byte(at: number): number {
    return this.#window[at - this.#at] ?? this.take(at, 1).readUInt8(0)
  }

  close(): void {
    closeSync(this.#fd)
  }

  #readAt(at: number, length: number): Buffer {
    if (at + length > this.bytes) throw new PictureError('refused', 'The picture is truncated.')
    const buffer = Buffer.allocUnsafe(length)
    let read = 0
    while (read < length) {
      const more = readSync(this.#fd, buffer, read, length - read, at + read)
      if (more === 0) throw new PictureError('refused', 'The picture is truncated.')
      read += more
    }
    return buffer
  }
}

/** A part of the output: bytes of the source, new bytes, or a number of zeros. */
export type Piece = { start: number; end: number } | { bytes: Buffer } | { zeros: number }

const copyBytes = 256 * 1024

export function writePieces(source: SourceFile, pieces: Piece[], out: string): void {
  const fd = openSync(out, 'wx', 0o600)
  try {
    for (const piece of pieces) {
      if ('bytes' in piece) writeAll(fd, piece.bytes)
      else if ('zeros' in piece)
        for (let left = piece.zeros; left > 0; left -= copyBytes) writeAll(fd, Buffer.alloc(Math.min(left, copyBytes)))
      else
        for (let at = piece.start; at < piece.end; at += copyBytes)
          writeAll(fd, source.take(at, Math.min(copyBytes, piece.end - at)))
    }
  } finally {
    closeSync(fd)
  }
}

function writeAll(fd: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length;) written += writeSync(fd, bytes, written)
}

/** Adjacent ranges are merged. */
export function joinRanges(ranges: { start: number; end: number }[]): { start: number; end: number }[] {
  const joined: { start: number; end: number }[] = []
  for (const { start, end } of ranges.toSorted((a, b) => a.start - b.start)) {
    const last = joined.at(-1)
    if (last && start <= last.end) last.end = Math.max(last.end, end)
    else joined.push({ start, end })
  }
  return joined
}
