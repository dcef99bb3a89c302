import type { ByteRange } from '#ports/blobs/blobs.ts'

/**
 * The one range of a Range header (RFC 9110, 14.1.2) in a file of that length. undefined: the whole is to be sent, as for several ranges, another
 * unit, or a range past the end.
 */
export function parseByteRange(header: string | undefined, bytes: number): ByteRange | undefined {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? []
  if (first === '' && last === '') return undefined
  const start = first === '' ? Math.max(0, bytes - Number(last)) : Number(first)
  const end = first === '' || last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1)
  return start <= end ? { start, end } : undefined
}
