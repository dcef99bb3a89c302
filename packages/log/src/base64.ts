import { LogError } from './log-error.ts'

/** Standard base64 with padding (RFC 4648 §4), as C2SP formats use it. */
export function encodeBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}

/**
 * The bytes of the canonical encoding. Throws LogError for anything else: Buffer ignores characters outside of the
 * alphabet, and a proof that has two encodings could be told apart from itself.
 */
export function decodeBase64(text: string, what: string): Buffer {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64') !== text) throw new LogError(`${what} is not base64`)
  return bytes
}

/** A hash of 32 bytes. */
export function decodeHash(text: string, what: string): Buffer {
  const bytes = decodeBase64(text, what)
  if (bytes.length !== 32) throw new LogError(`${what} is not a hash of 32 bytes`)
  return bytes
}

/** A count or an index: ASCII digits, no leading zero, at most 2^53 - 1. */
export function parseCount(text: string, what: string): number {
  const count = Number(text)
  if (!/^(?:0|[1-9][0-9]{0,15})$/.test(text) || !Number.isSafeInteger(count)) {
    throw new LogError(`${what} is not a decimal number below 2^53`)
  }
  return count
}
