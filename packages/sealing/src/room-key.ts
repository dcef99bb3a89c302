import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto'
import { assertRoomSecret, ROOM_KEY_INFO, type RoomSecret } from './room-secret.ts'

/** The key that wraps the content key of every line (A256KW). Throws TypeError for a malformed room or mk. */
export function deriveRoomKey(secret: RoomSecret): KeyObject {
  return deriveKey(secret, ROOM_KEY_INFO)
}

/** HKDF-SHA-256 (RFC 5869): ikm = mk, salt = room, 32 bytes. `info` names the use. */
export function deriveKey(secret: RoomSecret, info: string): KeyObject {
  assertRoomSecret(secret)
  return createSecretKey(new Uint8Array(hkdfSync('sha256', secret.mk, secret.room, info, 32)))
}
