import { encodeBase64url } from '@atrium/sealing/base64url'
import { proofContent, proofPayload, type ProvableRequest } from '@atrium/sealing/proof'

/** A public P-256 key as a JWK (RFC 7518, 6.2), with the required members only. */
export interface DevicePublicKey {
  kty: 'EC'
  crv: 'P-256'
  x: string
  y: string
}

/** Signs the bytes with ES256 in the form of a JWS (RFC 7518, 3.4): 64 bytes. */
export type Sign = (bytes: Uint8Array<ArrayBuffer>) => Promise<Uint8Array>

/** The key of this device. `spk` is sent with every request, and the private half never leaves Web Crypto. */
export interface DeviceKey {
  readonly spk: DevicePublicKey
  /** The thumbprint of spk (RFC 7638): the nonce to request from the identity provider. */
  readonly thumbprint: string
  readonly sign: Sign
}

/** The identity of a caller in a room. Rooms with a list require idToken and spk; open rooms require neither. */
export interface RoomIdentity {
  /** An ID token whose nonce is the thumbprint of spk, issued in the last twelve hours. */
  idToken?: string | undefined
  spk: DevicePublicKey
  /** The private device key. With it every call has a proof of possession, and messages are marked as proven. */
  sign?: Sign | undefined
}

/** RFC 7638, 3.2: the required members only, in this order, without white space. */
export async function thumbprintOf({ crv, kty, x, y }: DevicePublicKey): Promise<string> {
  return sha256Base64url(JSON.stringify({ crv, kty, x, y }))
}

export async function sha256Base64url(text: string): Promise<string> {
  return encodeBase64url(await sha256(text))
}

/**
 * A compact JWS (ES256, RFC 7515) by the device key over `{op, room, iat, sha256}`. It is valid for five minutes, and
 * only for this request with these arguments.
 */
export async function signProof(request: ProvableRequest, sign: Sign): Promise<string> {
  const payload = proofPayload(request, await sha256Hex(proofContent(request)))
  const signed = `${encodeBase64url(utf8(JSON.stringify({ alg: 'ES256' })))}.${encodeBase64url(payload)}`
  return `${signed}.${encodeBase64url(await sign(utf8(signed)))}`
}

/** Lower case. */
export async function sha256Hex(text: string): Promise<string> {
  return Array.from(await sha256(text), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

async function sha256(text: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', utf8(text)))
}

// Made once, because of thousands of lines.
const encoder = new TextEncoder()

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text)
}
