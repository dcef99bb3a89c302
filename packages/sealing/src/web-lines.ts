import type { WebCryptoKey } from './web-crypto-key.ts'
import { decodeBase64url, encodeBase64url } from './base64url.ts'
import { type Break, type ChainStart, findBreak } from './chain.ts'
import { DamagedLine } from './damaged-line.ts'
import { encodeHeader, formatLine, parseLine, type Position } from './line.ts'
import { decrypt, encrypt, generateContentKey, unwrapKey, wrapKey } from './web-cipher.ts'
import { WrongKey } from './wrong-key.ts'

export interface SealInput extends Position {
  /** From `deriveRoomKey` of web-room-key.ts. */
  readonly key: WebCryptoKey
  /** A string is sealed as UTF-8. */
  readonly payload: Uint8Array<ArrayBuffer> | string
}

export interface OpenedLine extends Position {
  readonly payload: Uint8Array<ArrayBuffer>
}

/** As in node-lines.ts, with Web Crypto. */
export async function sealLine({ key, seq, prev, payload }: SealInput): Promise<string> {
  const header = encodeHeader({ seq, prev })
  const contentKey = await generateContentKey()
  const iv = crypto.getRandomValues(new Uint8Array(12))
  const content = typeof payload === 'string' ? utf8(payload) : payload
  const [wrapped, { ciphertext, tag }] = await Promise.all([
    wrapKey(key, contentKey),
    encrypt({ contentKey, iv, aad: utf8(header) }, content),
  ])
  return formatLine({
    header,
    encryptedKey: encodeBase64url(wrapped),
    iv: encodeBase64url(iv),
    ciphertext: encodeBase64url(ciphertext),
    tag: encodeBase64url(tag),
  })
}

/** As in node-lines.ts: rejects with WrongKey or DamagedLine. */
export async function openLine({ key, line }: { readonly key: WebCryptoKey; readonly line: string }): Promise<OpenedLine> {
  const { header, encryptedKey, iv, ciphertext, tag, ...position } = parseLine(line)
  const contentKey = await unwrapKey(key, decodeBase64url(encryptedKey))
  if (!contentKey) throw new WrongKey()
  const payload = await decrypt(
    { contentKey, iv: decodeBase64url(iv), aad: utf8(header) },
    { ciphertext: decodeBase64url(ciphertext), tag: decodeBase64url(tag) },
  )
  if (!payload) throw new DamagedLine('the content or its header was altered')
  return { ...position, payload }
}

/**
 * The SHA-256 of the line's bytes in base64url: the next line's `prev`, and the room's etag if it is the last line.
 */
export async function lineHash(line: string): Promise<string> {
  return encodeBase64url(new Uint8Array(await crypto.subtle.digest('SHA-256', utf8(line))))
}

/** Returns the first break of the chain from `start`, or undefined. It needs no key. */
export async function checkChain(lines: readonly string[], start: ChainStart): Promise<Break | undefined> {
  return findBreak(lines, await Promise.all(lines.map(lineHash)), start)
}

// Made once, because of thousands of lines.
const encoder = new TextEncoder()

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text)
}

/** Waits for all lines that are opened at once. Throws the error of the first damaged one, whichever fails first. */
export async function openedInOrder<Opened>(lines: Promise<Opened>[]): Promise<Opened[]> {
  return (await Promise.allSettled(lines)).map((line) => {
    if (line.status === 'rejected') throw line.reason
    return line.value
  })
}
