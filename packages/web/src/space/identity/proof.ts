import { encodeBase64url } from '@atrium/sealing/base64url'
import { proofContent, proofPayload } from '@atrium/sealing/proof'
import type { RequestOf } from '../api/space-client.ts'
import type { DeviceKey } from './device-key.ts'

type Provable = RequestOf<'turn' | 'create' | 'admit' | 'expel' | 'remove'>

/**
 * A compact JWS (ES256) that this device wants exactly this done, now, in this room. A message is signed with its `client_id`, so that a proof
 * that is sent again writes nothing twice.
 */
export async function proofOf(request: Provable, { privateKey }: DeviceKey, nowMs = Date.now()): Promise<string> {
  const payload = proofPayload(request, await sha256Hex(proofContent(request)), nowMs)
  const signedText = `${encodeBase64url(utf8(JSON.stringify({ alg: 'ES256' })))}.${encodeBase64url(payload)}`
  const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, privateKey, utf8(signedText))
  return `${signedText}.${encodeBase64url(new Uint8Array(signature))}`
}

async function sha256Hex(text: string): Promise<string> {
  return [...new Uint8Array(await crypto.subtle.digest('SHA-256', utf8(text)))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')
}

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}
