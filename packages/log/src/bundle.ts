import { LogError } from './log-error.ts'

/** An entry's length has 16 bits in a bundle. */
const maxEntryBytes = 0xffff

/** Writes entries as a bundle: each with its length before it, in 16 bits, big-endian (C2SP tlog-tiles). */
export function encodeBundle(entries: readonly Uint8Array[]): Buffer {
  return Buffer.concat(
    entries.flatMap((entry) => {
      if (entry.length > maxEntryBytes) throw new LogError(`an entry of ${entry.length} bytes is too long for a log`)
      const length = Buffer.alloc(2)
      length.writeUInt16BE(entry.length)
      return [length, entry]
    }),
  )
}

/** The entries of a bundle. Throws LogError unless there are exactly `width`. */
export function decodeBundle(bundle: Uint8Array, width: number): Buffer[] {
  const bytes = Buffer.from(bundle.buffer, bundle.byteOffset, bundle.byteLength)
  const entries: Buffer[] = []
  let at = 0
  while (at < bytes.length) {
    const start = at + 2
    const end = start > bytes.length ? Number.NaN : start + bytes.readUInt16BE(at)
    if (!(end <= bytes.length)) throw new LogError('a bundle ends within an entry')
    entries.push(bytes.subarray(start, end))
    at = end
  }
  if (entries.length !== width) throw new LogError(`a bundle of ${width} entries has ${entries.length}`)
  return entries
}
