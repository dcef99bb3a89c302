import { decodeBase64url, encodeBase64url, isBase64url } from './base64url.ts'
import { DamagedLine } from './damaged-line.ts'

/** The position of a line. `prev` is the hash of line `seq - 1`, and absent only on line 0. */
export interface Position {
  readonly seq: number
  readonly prev?: string | undefined
}

/** The parts of a line that differ between lines, each in base64url. `header` is the JWE's protected header. */
export interface LineParts {
  readonly header: string
  readonly encryptedKey: string
  readonly iv: string
  readonly ciphertext: string
  readonly tag: string
}

export interface ParsedLine extends LineParts, Position {}

/** Separates the lines in a room's stored text; no line contains one. */
export const LINE_SEPARATOR = '\n'

/** Formats a JWE in general JSON serialisation (RFC 7516 §7.2.1), in its only accepted spelling. */
export function formatLine({ header, encryptedKey, iv, ciphertext, tag }: LineParts): string {
  const recipient = `{"header":{"alg":"A256KW","kid":"room"},"encrypted_key":"${encryptedKey}"}`
  return `{"protected":"${header}","recipients":[${recipient}],"iv":"${iv}","ciphertext":"${ciphertext}","tag":"${tag}"}`
}

/**
 * Parses the form of a line, without any key. Throws DamagedLine unless the line is exactly the result of
 * `formatLine` for its parts: the authentication tag covers neither the recipients nor the spelling, so this
 * comparison protects them.
 */
export function parseLine(line: string): ParsedLine {
  const parts = readParts(line)
  const { header, encryptedKey, iv, ciphertext, tag } = parts
  if (formatLine(parts) !== line) throw new DamagedLine('not in the canonical form')
  if (![header, encryptedKey, iv, ciphertext, tag].every(isBase64url)) throw new DamagedLine('not canonical base64url')
  // 40 bytes: a wrapped 32-byte key. 12: the iv of GCM. 16: a full tag, because a shorter one is easier to forge.
  if (encryptedKey.length !== 54 || iv.length !== 16 || tag.length !== 22) throw new DamagedLine('a part has the wrong length')
  return { ...parts, ...decodeHeader(header) }
}

/** Repeated members, and anything else that JSON.parse accepts, differ from the canonical form. */
function readParts(line: string): LineParts {
  try {
    const jwe = JSON.parse(line) as Record<'protected' | 'iv' | 'ciphertext' | 'tag', string> & {
      recipients: [{ encrypted_key: string }]
    }
    const { protected: header, iv, ciphertext, tag } = jwe
    const parts = { header, encryptedKey: jwe.recipients[0].encrypted_key, iv, ciphertext, tag }
    // A list in place of a text may be nested so deep that its text overflows the stack.
    if (Object.values<unknown>(parts).every((part) => typeof part === 'string')) return parts
  } catch {
    // Not JSON, or without a recipient.
  }
  throw new DamagedLine('not a JWE with a recipient')
}

/**
 * The protected header as base64url, which the tag authenticates together with the content. Throws TypeError for an
 * impossible position.
 */
export function encodeHeader({ seq, prev }: Position): string {
  if (!isPosition({ seq, prev })) throw new TypeError('seq counts from 0, and every line but line 0 has a prev')
  const json = `{"enc":"A256GCM","seq":${seq}${prev === undefined ? '' : `,"prev":"${prev}"`}}`
  return encodeBase64url(new TextEncoder().encode(json))
}

const HEADER = /^\{"enc":"A256GCM","seq":(0|[1-9]\d{0,15})(?:,"prev":"([A-Za-z0-9_-]{43})")?\}$/
const MAX_HEADER_LENGTH = 200

function decodeHeader(header: string): Position {
  const text = header.length <= MAX_HEADER_LENGTH ? String.fromCharCode(...decodeBase64url(header)) : ''
  const [, seqText, prev] = HEADER.exec(text) ?? []
  const seq = Number(seqText)
  if (!isPosition({ seq, prev })) throw new DamagedLine('not a header of a line')
  return prev === undefined ? { seq } : { seq, prev }
}

function isPosition({ seq, prev }: Position): boolean {
  if (!Number.isSafeInteger(seq)) return false
  return prev === undefined ? seq === 0 : seq > 0 && isLineHash(prev)
}

/** Whether the text has the form of a line's hash: 32 bytes as base64url. */
export function isLineHash(text: string): boolean {
  return text.length === 43 && isBase64url(text)
}
