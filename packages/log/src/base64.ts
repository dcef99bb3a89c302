import { LogError } from './log-error.ts'

/** Standard base64 with padding (RFC 4648 §4), as C2SP formats use it. */
export function encodeBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}

/**
 * The bytes of the canonical encoding. Throws LogError for anything else: atob ignores spaces and a missing padding, and
 * a proof that has two encodings could be told apart from itself.
 */
export function decodeBase64(text: string, what: string): Uint8Array<ArrayBuffer> {
  const bytes = bytesOf(text)
  if (bytes === undefined || encodeBase64(bytes) !== text) throw new LogError(`${what} is not base64`)
  return bytes
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

/** A hash of 32 bytes. */
export function decodeHash(text: string, what: string): Uint8Array<ArrayBuffer> {
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
