import { hash, type KeyObject } from 'node:crypto'
import { type Break, type ChainStart, findBreak } from './chain.ts'
import { DamagedLine } from './damaged-line.ts'
import { encodeHeader, formatLine, parseLine, type Position } from './line.ts'
import { decrypt, encrypt, unwrapKey, withFreshKey, wrapKey } from './node-cipher.ts'
import { WrongKey } from './wrong-key.ts'

export interface SealInput extends Position {
  /** From `deriveRoomKey`. */
  readonly key: KeyObject
  /** A string is sealed as UTF-8. */
  readonly payload: Uint8Array | string
}

export interface OpenedLine extends Position {
  readonly payload: Buffer
}

/**
 * One line: an independent JWE that any JOSE tool opens with the room key. Throws TypeError for an impossible
 * position.
 */
export function sealLine({ key, seq, prev, payload }: SealInput): string {
  const header = encodeHeader({ seq, prev })
  const content = typeof payload === 'string' ? Buffer.from(payload) : payload
  return withFreshKey(({ contentKey, iv }) => {
    const { ciphertext, tag } = encrypt({ contentKey, iv, aad: Buffer.from(header) }, content)
    return formatLine({
      header,
      encryptedKey: text(wrapKey(key, contentKey)),
      iv: text(iv),
      ciphertext: text(ciphertext),
      tag: text(tag),
    })
  })
}

/**
 * Opens a line and returns its position; `checkChain` verifies that position. Throws WrongKey if its content key does
 * not unwrap under this room key, and DamagedLine for anything else.
 */
export function openLine({ key, line }: { readonly key: KeyObject; readonly line: string }): OpenedLine {
  const { header, encryptedKey, iv, ciphertext, tag, ...position } = parseLine(line)
  const contentKey = unwrapKey(key, bytes(encryptedKey))
  if (!contentKey) throw new WrongKey()
  const input = { contentKey, iv: bytes(iv), aad: Buffer.from(header) }
  const payload = decrypt(input, { ciphertext: bytes(ciphertext), tag: bytes(tag) })
  contentKey.fill(0)
  if (!payload) throw new DamagedLine('the content or its header was altered')
  return { ...position, payload }
}

/**
 * The SHA-256 of the line's bytes in base64url: the next line's `prev`, and the room's etag if it is the last line.
 */
export function lineHash(line: string): string {
  return hash('sha256', line, 'base64url')
}

/** Returns the first break of the chain from `start`, or undefined. It needs no key. */
export function checkChain(lines: readonly string[], start: ChainStart): Break | undefined {
  return findBreak(lines, lines.map(lineHash), start)
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64url')
}

/** parseLine has checked the spelling, so Node's lenient decoder accepts nothing else. */
function bytes(text: string): Buffer {
  return Buffer.from(text, 'base64url')
}
