import type { WebCryptoKey } from './web-crypto-key.ts'
import { assertRoomSecret, ROOM_KEY_INFO, type RoomSecret } from './room-secret.ts'

/**
 * Derives the same key as room-key.ts, for Web Crypto. It cannot be exported. Rejects with TypeError for a malformed
 * room or mk.
 */
export async function deriveRoomKey(secret: RoomSecret): Promise<WebCryptoKey> {
  assertRoomSecret(secret)
  const utf8 = new TextEncoder()
  const ikm = await crypto.subtle.importKey('raw', utf8.encode(secret.mk), 'HKDF', false, ['deriveKey'])
  return crypto.subtle.deriveKey(
    { name: 'HKDF', hash: 'SHA-256', salt: utf8.encode(secret.room), info: utf8.encode(ROOM_KEY_INFO) },
    ikm,
    { name: 'AES-KW', length: 256 },
    false,
    ['wrapKey', 'unwrapKey'],
  )
}
