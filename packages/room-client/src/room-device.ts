import { isLineHash } from '@atrium/sealing/line'
import type { WebCryptoKey } from '@atrium/sealing/web-crypto-key'
import type { EcPublicKey } from '@atrium/sealing/web-recipient'
import { isSignedBy, parseJws, signJws } from './device-jws.ts'
import { deviceKeyOf } from './device-pair.ts'
import { type DeviceKey, thumbprintOf } from './identity.ts'
import { isText } from './turn.ts'

const signingAlgorithm = { name: 'ECDSA', namedCurve: 'P-256' }
const encryptionAlgorithm = { name: 'ECDH', namedCurve: 'P-256' }

/** The two key pairs of a device. Store them in IndexedDB, which keeps keys that cannot be exported. */
export interface DevicePairs {
  readonly signing: { readonly publicKey: WebCryptoKey; readonly privateKey: WebCryptoKey }
  readonly encryption: { readonly publicKey: WebCryptoKey; readonly privateKey: WebCryptoKey }
}

/** A device in a room with a list: one key signs, the other one receives room keys. */
export interface RoomDevice {
  readonly signing: DeviceKey
  readonly encryption: EcPublicKey
  readonly privateKey: WebCryptoKey
}

/** Makes the keys of a device. Their private halves cannot be exported, unless `extractable`. */
export async function generateDevicePairs(extractable = false): Promise<DevicePairs> {
  const [signing, encryption] = await Promise.all([
    crypto.subtle.generateKey(signingAlgorithm, extractable, ['sign', 'verify']),
    crypto.subtle.generateKey(encryptionAlgorithm, extractable, ['deriveBits']),
  ])
  return { signing, encryption }
}

export async function roomDeviceOf({ signing, encryption }: DevicePairs): Promise<RoomDevice> {
  const { x = '', y = '' } = await crypto.subtle.exportKey('jwk', encryption.publicKey)
  return { signing: await deviceKeyOf(signing), encryption: { kty: 'EC', crv: 'P-256', x, y }, privateKey: encryption.privateKey }
}

/** The keys of an invitation as text: four times x, y, d of a JWK, each 43 characters. It is as secret as a room key. */
export async function exportPairs(pairs: DevicePairs): Promise<string> {
  const keys = [pairs.signing.privateKey, pairs.encryption.privateKey]
  const parts = await Promise.all(keys.map((key) => crypto.subtle.exportKey('jwk', key)))
  return parts.map(({ x = '', y = '', d = '' }) => x + y + d).join('')
}

const COORDINATES = /^[\w-]{258}$/

/** The reverse. Rejects with TypeError if the text is none. */
export async function importPairs(text: string): Promise<RoomDevice> {
  if (!COORDINATES.test(text)) throw new TypeError('not an invitation')
  const publicAt = (at: number): EcPublicKey => {
    return { kty: 'EC', crv: 'P-256', x: text.slice(at, at + 43), y: text.slice(at + 43, at + 86) }
  }
  const privateAt = (at: number) => ({ ...publicAt(at), d: text.slice(at + 86, at + 129) })
  try {
    const [privateSigning, publicSigning, privateKey] = await Promise.all([
      crypto.subtle.importKey('jwk', privateAt(0), signingAlgorithm, false, ['sign']),
      crypto.subtle.importKey('jwk', { ...publicAt(0) }, signingAlgorithm, true, ['verify']),
      crypto.subtle.importKey('jwk', privateAt(129), encryptionAlgorithm, false, ['deriveBits']),
    ])
    const signing = await deviceKeyOf({ privateKey: privateSigning, publicKey: publicSigning })
    return { signing, encryption: publicAt(129), privateKey }
  } catch {
    throw new TypeError('not an invitation')
  }
}

const CARD_TYPE = 'atrium-device+jws'
const MAX_NAME_LENGTH = 80

/** What a device says of itself. */
export interface Card {
  /** Thumbprint of `spk`. */
  readonly key: string
  readonly spk: EcPublicKey
  /** Its encryption key. */
  readonly epk: EcPublicKey
  /** Claimed. */
  readonly name?: string
  /** Whose second device it agrees to be, or the invitation that it answers: a thumbprint. Any other text is no consent. */
  readonly member?: string | undefined
}

/** The card of a device for one room: its signing key signs its encryption key. `member`: whose second device it is, or the invitation that it answers. */
export async function signCard(
  { signing, encryption }: RoomDevice,
  room: string,
  name: string | undefined,
  member?: string,
): Promise<string> {
  if (name !== undefined && !isText(name, MAX_NAME_LENGTH)) throw new TypeError(`a name has 1 to ${MAX_NAME_LENGTH} characters`)
  const of = { ...(name !== undefined && { name }), ...(member !== undefined && { member }) }
  const payload = { room, spk: signing.spk, epk: encryption, ...of }
  return signJws({ typ: CARD_TYPE }, payload, signing.sign)
}

/** undefined: it is not the card of a device for this room. */
export async function readCard(text: unknown, room: string): Promise<Card | undefined> {
  const payload = typeof text === 'string' ? parseJws(text, CARD_TYPE)?.payload : undefined
  const [spk, epk] = [readKey(payload?.['spk']), readKey(payload?.['epk'])]
  const name = payload?.['name']
  const isForm = payload?.['room'] === room && (name === undefined || isText(name, MAX_NAME_LENGTH))
  if (!spk || !epk || !isForm || !(await isSignedBy(text as string, spk))) return undefined
  const member = payload?.['member']
  return {
    key: await thumbprintOf(spk),
    spk,
    epk,
    ...(name !== undefined && { name }),
    // Anything else is no consent either, and may be nested deeper than a worker can send.
    ...(typeof member === 'string' && { member }),
  }
}

/** Whether something can be sealed to this key. The coordinates of a card may be of no point of the curve. */
export function isEncryptionKey({ kty, crv, x, y }: EcPublicKey): Promise<boolean> {
  return crypto.subtle.importKey('jwk', { kty, crv, x, y }, encryptionAlgorithm, false, []).then(
    () => true,
    () => false,
  )
}

/** The required members of a public key; undefined: it is none, or has others. */
export function readKey(value: unknown): EcPublicKey | undefined {
  const { kty, crv, x, y, ...rest } = (value ?? {}) as Partial<EcPublicKey>
  if (kty !== 'EC' || crv !== 'P-256' || typeof x !== 'string' || typeof y !== 'string') return undefined
  // 32 bytes in their only spelling, as a hash: another one would give the key another thumbprint.
  return isLineHash(x) && isLineHash(y) && Object.keys(rest).length === 0 ? { kty, crv, x, y } : undefined
}
