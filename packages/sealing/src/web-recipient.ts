import { decodeBase64url, encodeBase64url } from './base64url.ts'
import { unwrapKey, wrapKey } from './web-cipher.ts'
import type { WebCryptoKey } from './web-crypto-key.ts'

/** A public P-256 key as a JWK (RFC 7518, 6.2), with the required members only. */
export interface EcPublicKey {
  readonly kty: 'EC'
  readonly crv: 'P-256'
  readonly x: string
  readonly y: string
}

/** A recipient of a JWE in general JSON form (RFC 7516, 7.2.1), with its members in this order. */
export interface Recipient {
  readonly header: { readonly alg: 'A256KW' | 'ECDH-ES+A256KW'; readonly kid: string; readonly epk?: EcPublicKey }
  readonly encrypted_key: string
}

const curve = { name: 'ECDH', namedCurve: 'P-256' }

/** The recipient for whoever has this key. */
export async function makeKeyRecipient(key: WebCryptoKey, kid: string, contentKey: WebCryptoKey): Promise<Recipient> {
  return { header: { alg: 'A256KW', kid }, encrypted_key: encodeBase64url(await wrapKey(key, contentKey)) }
}

/** The recipient for the device with this encryption key: ECDH-ES+A256KW (RFC 7518, 4.6), with a new key each time. */
export async function makeDeviceRecipient(key: EcPublicKey, kid: string, contentKey: WebCryptoKey): Promise<Recipient> {
  const { publicKey, privateKey } = await crypto.subtle.generateKey(curve, true, ['deriveBits'])
  const { x = '', y = '' } = await crypto.subtle.exportKey('jwk', publicKey)
  const kek = await deriveKek(privateKey, key)
  const header = { alg: 'ECDH-ES+A256KW', kid, epk: { kty: 'EC', crv: 'P-256', x, y } } as const
  return { header, encrypted_key: encodeBase64url(await wrapKey(kek, contentKey)) }
}

/** The content key; undefined: it was wrapped for another key. */
export function openKeyRecipient(key: WebCryptoKey, { encrypted_key: wrapped }: Recipient): Promise<WebCryptoKey | undefined> {
  return unwrapKey(key, decodeBase64url(wrapped))
}

/** The same for a device. `privateKey`: ECDH, with the usage deriveBits. */
export async function openDeviceRecipient(privateKey: WebCryptoKey, recipient: Recipient): Promise<WebCryptoKey | undefined> {
  const { epk } = recipient.header
  // A point that is not on the curve is refused with DataError.
  const kek = epk && (await deriveKek(privateKey, epk).catch(() => undefined))
  return kek && openKeyRecipient(kek, recipient)
}

async function deriveKek(privateKey: WebCryptoKey, publicKey: EcPublicKey): Promise<WebCryptoKey> {
  const key = await agreeKey(privateKey, publicKey, 'ECDH-ES+A256KW')
  return crypto.subtle.importKey('raw', key, 'AES-KW', false, ['wrapKey', 'unwrapKey'])
}

/** The key of 256 bits that both halves agree on: Concat KDF (RFC 7518, 4.6.2) without apu and apv, in one round. */
export async function agreeKey(privateKey: WebCryptoKey, publicKey: EcPublicKey, algorithmId: string): Promise<ArrayBuffer> {
  const imported = await crypto.subtle.importKey('jwk', { ...publicKey }, curve, false, [])
  const shared = new Uint8Array(await crypto.subtle.deriveBits({ name: 'ECDH', public: imported }, privateKey, 256))
  const algorithm = new TextEncoder().encode(algorithmId)
  const number = (value: number) => [0, 0, 0, value]
  const input = [...number(1), ...shared, ...number(algorithm.length), ...algorithm, ...number(0), ...number(0), 0, 0, 1, 0]
  return crypto.subtle.digest('SHA-256', Uint8Array.from(input))
}
