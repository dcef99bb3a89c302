import type { ByteRange } from '#ports/blobs/blobs.ts'

/**
 * Parses the single range of a Range header (RFC 9110, 14.1.2) for a file of that length. undefined means that the
 * whole file is sent: for several ranges, another unit, or a range beyond the end.
 */
export function parseByteRange(header: string | undefined, bytes: number): ByteRange | undefined {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? []
  if (first === '' && last === '') return undefined
  const start = first === '' ? Math.max(0, bytes - Number(last)) : Number(first)
  const end = first === '' || last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1)
  return start <= end ? { start, end } : undefined
}
