import { encodeBase64url } from '@atrium/sealing/base64url'
import { proofContent, proofPayload, type ProvableRequest } from '@atrium/sealing/proof'
import type { DeviceKey } from './device-key.ts'

/**
 * A compact JWS (ES256, RFC 7515) by the device key over `{op, room, iat, sha256}`: good for five minutes, for this request with these
 * arguments alone.
 */
export async function proofOf(request: ProvableRequest, sign: DeviceKey['sign']): Promise<string> {
  const payload = proofPayload(request, await sha256Hex(proofContent(request)))
  const signed = `${encodeBase64url(utf8(JSON.stringify({ alg: 'ES256' })))}.${encodeBase64url(payload)}`
  return `${signed}.${encodeBase64url(await sign(utf8(signed)))}`
}

/** Lower case. */
export async function sha256Hex(text: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', utf8(text)))
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}
