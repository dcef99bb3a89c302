import { decodeBase64url, encodeBase64url, isBase64url } from './base64url.ts'
import { padded, type StoredLine, unpadded, utf8 } from './client-sealed.ts'
import { DamagedLine } from './damaged-line.ts'
import { isLineHash } from './line.ts'
import { decrypt, encrypt, generateContentKey } from './web-cipher.ts'
import type { WebCryptoKey } from './web-crypto-key.ts'
import { type EcPublicKey, makeDeviceRecipient, makeKeyRecipient, type Recipient } from './web-recipient.ts'

/** The `kid` of the recipient for everybody who has the room key of the generation. */
export const ROOM_KID = 'room'

/** A stored line with the list of devices. */
export interface StoredPolicyLine extends StoredLine {
  /** Compact JWS by the owner. */
  readonly policy: string
  readonly recipients: readonly Recipient[]
}

interface PolicyLine {
  readonly policy: string
  /** JSON text, whose SHA-256 the policy names. */
  readonly content: string
  /** From `derivePolicyKey`. */
  readonly policyKey: WebCryptoKey
  /** The encryption keys of the devices, in the order of the list. */
  readonly devices: readonly { readonly kid: string; readonly key: EcPublicKey }[]
}

/** Seals a line with the list of devices: a JWE in general JSON form, for each of them and for the room key. */
export async function sealPolicyLine({ policy, content, policyKey, devices }: PolicyLine): Promise<string> {
  const header = policyHeader(policy)
  const contentKey = await generateContentKey()
  const iv = crypto.getRandomValues(new Uint8Array(12))
  const [recipients, { ciphertext, tag }] = await Promise.all([
    Promise.all([
      ...devices.map(({ kid, key }) => makeDeviceRecipient(key, kid, contentKey)),
      makeKeyRecipient(policyKey, ROOM_KID, contentKey),
    ]),
    encrypt({ contentKey, iv, aad: utf8(header) }, padded(utf8(content))),
  ])
  const parts = { iv: encodeBase64url(iv), ciphertext: encodeBase64url(ciphertext), tag: encodeBase64url(tag) }
  return JSON.stringify({ protected: header, recipients, ...parts })
}

/** The protected header, in its only spelling. */
function policyHeader(policy: string): string {
  return encodeBase64url(utf8(JSON.stringify({ enc: 'A256GCM', policy })))
}

const STORED =
  /^\{"protected":"([\w-]+)","unprotected":\{"seq":(0|[1-9]\d{0,14})(?:,"prev":"([\w-]{43})")?\},"recipients":(\[.+\]),"iv":"([\w-]{16})","ciphertext":"([\w-]+)","tag":"([\w-]{22})"\}$/
const COMPACT_JWS = /^[\w-]+\.[\w-]+\.[\w-]+$/

/** Parses a stored line with the list of devices; undefined: it has no recipients. Throws DamagedLine. */
export function parsePolicyLine(line: string): StoredPolicyLine | undefined {
  const [, header = '', seqText, prev, recipientsText = '', iv = '', ciphertext = '', tag = ''] = STORED.exec(line) ?? []
  if (header === '') return undefined
  const seq = Number(seqText)
  if ((prev === undefined) !== (seq === 0) || (prev !== undefined && !isLineHash(prev)))
    throw new DamagedLine('not a stored line')
  if (![header, iv, ciphertext, tag].every(isBase64url)) throw new DamagedLine('not canonical base64url')
  const policy = readPolicy(header)
  if (!COMPACT_JWS.test(policy) || policyHeader(policy) !== header) throw new DamagedLine('its header has no policy')
  return { seq, prev, header, iv, ciphertext, tag, policy, recipients: readRecipients(recipientsText) }
}

function readPolicy(header: string): string {
  try {
    const { policy } = JSON.parse(new TextDecoder().decode(decodeBase64url(header))) as { policy?: unknown }
    return typeof policy === 'string' ? policy : ''
  } catch {
    return ''
  }
}

function readRecipients(text: string): Recipient[] {
  const isName = (name: unknown) => typeof name === 'string' && isLineHash(name)
  const isForm = ({ header: { alg, kid, epk }, encrypted_key: wrapped }: Recipient) =>
    typeof wrapped === 'string' &&
    wrapped.length === 54 &&
    isBase64url(wrapped) &&
    (epk
      ? alg === 'ECDH-ES+A256KW' && isName(kid) && epk.kty === 'EC' && epk.crv === 'P-256' && isName(epk.x) && isName(epk.y)
      : alg === 'A256KW' && kid === ROOM_KID)
  try {
    const recipients = (JSON.parse(text) as Recipient[]).map(({ header: { alg, kid, epk }, encrypted_key }) => ({
      header: { alg, kid, ...(epk && { epk: { kty: epk.kty, crv: epk.crv, x: epk.x, y: epk.y } }) },
      encrypted_key,
    }))
    if (recipients.every(isForm) && JSON.stringify(recipients) === text) return recipients
  } catch {
    // Not JSON, or not such a list.
  }
  throw new DamagedLine('not a list of recipients')
}

/** What was sealed. Rejects with DamagedLine if the content key does not open it, or if it is not UTF-8. */
export async function openPolicyLine(
  contentKey: WebCryptoKey | undefined,
  { header, iv, ciphertext, tag }: StoredPolicyLine,
): Promise<string> {
  const content =
    contentKey &&
    (await decrypt(
      { contentKey, iv: decodeBase64url(iv), aad: utf8(header) },
      { ciphertext: decodeBase64url(ciphertext), tag: decodeBase64url(tag) },
    ))
  if (!content) throw new DamagedLine('the key does not open the line')
  const text = unpadded(content)
  // Otherwise, it would be taken for an empty text.
  if (text === '' && content.some((byte) => byte !== 0x20)) throw new DamagedLine('what is sealed is not UTF-8')
  return text
}
