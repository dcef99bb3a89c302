import { encodeBase64url } from '@atrium/sealing/base64url'
import type { RequestOf } from '../api/space-client.ts'
import type { DeviceKey } from './device-key.ts'

type Provable = RequestOf<'turn' | 'create' | 'admit' | 'expel' | 'remove'>

/** A compact JWS (ES256) that this device wants this done, now, in this room. */
export async function proofOf(request: Provable, { privateKey }: DeviceKey, nowMs = Date.now()): Promise<string> {
  const claims = {
    op: request.op,
    room: request.room,
    iat: Math.floor(nowMs / 1000),
    sha256: await sha256Hex(messageText(request)),
  }
  const signedText = `${encodeJson({ alg: 'ES256' })}.${encodeJson(claims)}`
  const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, privateKey, utf8(signedText))
  return `${signedText}.${encodeBase64url(new Uint8Array(signature))}`
}

/**
 * What is signed for: the message as it is stored, its `client_id` included, so that a proof that is sent again writes nothing twice.
 * What has no message signs the empty text.
 */
export function messageText(request: Provable): string {
  if (request.op !== 'turn') return ''
  const { text, reply_to, client_id } = request.message
  return JSON.stringify({ text, reply_to, client_id })
}

async function sha256Hex(text: string): Promise<string> {
  return [...new Uint8Array(await crypto.subtle.digest('SHA-256', utf8(text)))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')
}

function encodeJson(value: object): string {
  return encodeBase64url(utf8(JSON.stringify(value)))
}

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}
