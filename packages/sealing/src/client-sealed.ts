import { decodeBase64url, encodeBase64url, isBase64url } from './base64url.ts'
import { DamagedLine } from './damaged-line.ts'
import { isLineHash } from './line.ts'
import { assertRoomSecret, type RoomSecret } from './room-secret.ts'
import { SIGNATURE_TYPE, signaturePayload, signedContent, type SignedRequest } from './signed-request.ts'
import { decrypt, encrypt } from './web-cipher.ts'
import type { WebCryptoKey } from './web-crypto-key.ts'

/** HKDF's info parameter for each key of a room whose lines the clients seal. */
const LINE_KEY_INFO = 'atrium/client-sealed/line/v1'
const ACCESS_KEY_INFO = 'atrium/client-sealed/access/v1'
const POLICY_KEY_INFO = 'atrium/client-sealed/policy/v1'

/** The keys that a client derives from a link. None of them leaves the client but `access`. */
export interface ClientKeys {
  readonly room: string
  /** How often the key has changed before. Always 0 in an open room. */
  readonly generation: number
  /** AES-256-GCM: seals and opens the lines. */
  readonly line: WebCryptoKey
  /** Ed25519: signs the requests. */
  readonly signing: WebCryptoKey
  /** The public part of `signing`, which the service stores: the `x` of its JWK. */
  readonly access: string
}

/** Derives the keys of a room. Rejects with TypeError for a malformed room or mk. */
export async function deriveClientKeys(secret: RoomSecret, generation = 0): Promise<ClientKeys> {
  const { ikm, params } = await extract(secret)
  const [line, seed] = await Promise.all([
    crypto.subtle.deriveKey(params(LINE_KEY_INFO), ikm, { name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt']),
    crypto.subtle.deriveBits(params(ACCESS_KEY_INFO), ikm, 256),
  ])
  return { room: secret.room, generation, line, ...(await ed25519Of(new Uint8Array(seed))) }
}

/** AES key wrap: opens each line with the list of devices of its generation. Only rooms with a list have it. */
export async function derivePolicyKey(secret: RoomSecret): Promise<WebCryptoKey> {
  const { ikm, params } = await extract(secret)
  return crypto.subtle.deriveKey(params(POLICY_KEY_INFO), ikm, { name: 'AES-KW', length: 256 }, false, ['wrapKey', 'unwrapKey'])
}

async function extract(secret: RoomSecret) {
  assertRoomSecret(secret)
  const ikm = await crypto.subtle.importKey('raw', utf8(secret.mk), 'HKDF', false, ['deriveKey', 'deriveBits'])
  const params = (info: string) => ({ name: 'HKDF', hash: 'SHA-256', salt: utf8(secret.room), info: utf8(info) })
  return { ikm, params }
}

/** PKCS #8 (RFC 8410) of an Ed25519 private key, up to its 32 bytes. */
const PKCS8_HEAD = [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20]

async function ed25519Of(seed: Uint8Array): Promise<{ signing: WebCryptoKey; access: string }> {
  const pkcs8 = Uint8Array.of(...PKCS8_HEAD, ...seed)
  // Extractable for a moment: Web Crypto gives the public part only in the export of the private one.
  const pair = await crypto.subtle.importKey('pkcs8', pkcs8, 'Ed25519', true, ['sign'])
  const { x } = await crypto.subtle.exportKey('jwk', pair)
  if (x === undefined) throw new Error('an Ed25519 key has an x')
  return { signing: await crypto.subtle.importKey('pkcs8', pkcs8, 'Ed25519', false, ['sign']), access: x }
}

type UnsignedRequest = Omit<SignedRequest, 'signature'>

/** The `signature` of a request: a compact JWS (RFC 7515) by the access key. `audience`: the origin of the service. */
export async function signRequest(
  { signing }: ClientKeys,
  request: UnsignedRequest,
  { audience, nowMs = Date.now() }: { audience: string; nowMs?: number },
): Promise<string> {
  const content = utf8(signedContent({ ...request, signature: '' }))
  const sha256 = encodeBase64url(new Uint8Array(await crypto.subtle.digest('SHA-256', content)))
  const header = encodeBase64url(utf8(JSON.stringify({ alg: 'EdDSA', typ: SIGNATURE_TYPE })))
  const signedText = `${header}.${encodeBase64url(utf8(signaturePayload(request, { audience, sha256, nowMs })))}`
  const signature = await crypto.subtle.sign('Ed25519', signing, utf8(signedText))
  return `${signedText}.${encodeBase64url(new Uint8Array(signature))}`
}

/** The last line that the author of a line had read: its number, and its hash. */
export interface Seen {
  readonly seq: number
  readonly hash: string
}

interface ClientLine {
  /** Absent on line 0 alone. */
  readonly seen?: Seen | undefined
  /** JSON text. */
  readonly content: string
}

/** Seals a line for `make` or `append`. The content is padded, so that its length says little. */
export async function sealClientLine(keys: ClientKeys, { seen, content }: ClientLine): Promise<string> {
  const header = lineHeader(keys, seen)
  const key = keys.line
  const iv = crypto.getRandomValues(new Uint8Array(12))
  const { ciphertext, tag } = await encrypt({ contentKey: key, iv, aad: utf8(header) }, padded(utf8(content)))
  const parts = { protected: header, iv: encodeBase64url(iv), ciphertext: encodeBase64url(ciphertext), tag: encodeBase64url(tag) }
  return JSON.stringify(parts)
}

/** The protected header, in its only spelling. */
export function lineHeader({ room, generation }: Pick<ClientKeys, 'room' | 'generation'>, seen: Seen | undefined): string {
  return encodeBase64url(utf8(JSON.stringify({ alg: 'dir', enc: 'A256GCM', room, generation, ...(seen && { seen }) })))
}

const MIN_PADDED_BYTES = 256

/** The length to which Padmé pads: it differs by at most 12 %, and reveals O(log log n) bits. At least 256. */
export function paddedLength(bytes: number): number {
  if (bytes <= MIN_PADDED_BYTES) return MIN_PADDED_BYTES
  const exponent = Math.floor(Math.log2(bytes))
  const kept = Math.floor(Math.log2(exponent)) + 1
  const step = 2 ** (exponent - kept)
  return Math.ceil(bytes / step) * step
}

/** JSON ignores spaces at its end. */
export function padded(content: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(paddedLength(content.length)).fill(0x20)
  bytes.set(content)
  return bytes
}

/** The text without its padding; empty if it is not UTF-8, which no JSON is either. */
export function unpadded(bytes: Uint8Array): string {
  let end = bytes.length
  while (end > 0 && bytes[end - 1] === 0x20) end--
  return utf8Text(bytes.subarray(0, end))
}

export interface StoredLine {
  readonly seq: number
  readonly prev: string | undefined
  readonly header: string
  readonly iv: string
  readonly ciphertext: string
  readonly tag: string
}

const STORED =
  /^\{"protected":"([\w-]+)","unprotected":\{"seq":(0|[1-9]\d{0,14})(?:,"prev":"([\w-]{43})")?\},"iv":"([\w-]{16})","ciphertext":"([\w-]+)","tag":"([\w-]{22})"\}$/

/** Parses the form of a stored line, without any key. Throws DamagedLine unless it has the only spelling. */
export function parseStoredLine(line: string): StoredLine {
  const [, header = '', seqText, prev, iv = '', ciphertext = '', tag = ''] = STORED.exec(line) ?? []
  const seq = Number(seqText)
  if ((prev === undefined) !== (seq === 0)) throw new DamagedLine('not a stored line')
  if (![header, iv, ciphertext, tag].every(isBase64url) || (prev !== undefined && !isLineHash(prev)))
    throw new DamagedLine('not canonical base64url')
  return { seq, prev, header, iv, ciphertext, tag }
}

/** What a stored line says, and of which room it says it is. Rejects with DamagedLine if the key does not open it. */
export async function openStoredLine(
  { line: contentKey, room, generation }: ClientKeys,
  { header, iv, ciphertext, tag }: StoredLine,
): Promise<ClientLine> {
  const content = await decrypt(
    { contentKey, iv: decodeBase64url(iv), aad: utf8(header) },
    { ciphertext: decodeBase64url(ciphertext), tag: decodeBase64url(tag) },
  )
  if (!content) throw new DamagedLine('the room key does not open the line')
  const seen = readSeen(header, { room, generation })
  return { seen, content: unpadded(content) }
}

/** Whoever has the room key can seal a header of any form. Only one names this room and generation. */
function readSeen(header: string, keys: Pick<ClientKeys, 'room' | 'generation'>): Seen | undefined {
  try {
    const { seen } = JSON.parse(new TextDecoder().decode(decodeBase64url(header))) as { seen?: Seen }
    const isForm = seen === undefined || (Number.isInteger(seen.seq) && seen.seq >= 0 && seen.seq < 1e15 && isLineHash(seen.hash))
    const plain = seen && { seq: seen.seq, hash: seen.hash }
    if (isForm && lineHeader(keys, plain) === header) return plain
  } catch {
    // Not JSON, or not an object.
  }
  throw new DamagedLine('its header is not of this room')
}

// Made once: a reader of thousands of lines spends a tenth of its time on making them.
const encoder = new TextEncoder()
// ignoreBOM: a byte order mark is part of the text, which is no JSON then.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Empty: the bytes are not UTF-8. */
export function utf8Text(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    return ''
  }
}

export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text)
}
