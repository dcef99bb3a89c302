import { gunzipSync, inflateRawSync } from 'node:zlib'
import { CheckFailed } from './report.ts'

const HEADER_BYTES = 10
const TRAILER_BYTES = 8

/**
 * Unpacks exactly one gzip member (RFC 1952) without optional header fields. gunzip accepts several members and
 * ignores what follows the last one, and tools differ in that: two readers of the same bytes would see different
 * files.
 */
export function unpackGzip(packed: Uint8Array, maxBytes: number): Buffer {
  if (packed.length < HEADER_BYTES + TRAILER_BYTES || packed[0] !== 0x1f || packed[1] !== 0x8b || packed[2] !== 8) {
    throw new CheckFailed('the archive is not gzip')
  }
  if (packed[3] !== 0) throw new CheckFailed('the gzip header of the archive has optional fields')
  const end = HEADER_BYTES + deflatedBytes(packed.subarray(HEADER_BYTES), maxBytes) + TRAILER_BYTES
  if (end < packed.length) throw new CheckFailed(`${packed.length - end} bytes follow the end of the gzip member`)
  try {
    return gunzipSync(packed, { maxOutputLength: maxBytes })
  } catch {
    throw new CheckFailed('the archive is not gzip: its checksum or length is wrong')
  }
}

/** The length of the deflate stream at the start of `packed`. */
function deflatedBytes(packed: Uint8Array, maxBytes: number): number {
  try {
    // With `info` the result contains the engine, which Node's types do not declare.
    const { engine } = inflateRawSync(packed, { maxOutputLength: maxBytes, info: true }) as unknown as {
      readonly engine: { readonly bytesWritten: number }
    }
    return engine.bytesWritten
  } catch (error) {
    const isTooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE'
    throw new CheckFailed(
      isTooLarge ? `the archive unpacks to more than ${maxBytes} bytes` : 'the archive is not gzip, or is cut off',
    )
  }
}
