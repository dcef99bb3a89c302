import { encodeBase64url } from '@atrium/sealing/base64url'
import type { DeviceKey } from './device-key.ts'

/** What is proven: this operation, in this room, with these bytes. */
interface Proven {
  op: string
  room: string
  /** The message as it is stored; empty where there is none. */
  message: string
}

/** A compact JWS (ES256, RFC 7515) by the device key over `{op, room, iat, sha256}`: good for five minutes. */
export async function proofOf({ op, room, message }: Proven, sign: DeviceKey['sign']): Promise<string> {
  const claims = { op, room, iat: Math.floor(Date.now() / 1_000), sha256: await sha256Hex(message) }
  const signed = `${encodeJson({ alg: 'ES256' })}.${encodeJson(claims)}`
  return `${signed}.${encodeBase64url(await sign(utf8(signed)))}`
}

/** Lower case. */
export async function sha256Hex(text: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', utf8(text)))
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function encodeJson(value: object): string {
  return encodeBase64url(utf8(JSON.stringify(value)))
}

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}
