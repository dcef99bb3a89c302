import { encodeBase64url } from '@atrium/sealing/base64url'
import type { RoomSecret } from '@atrium/sealing/room-secret'

/**
 * Makes the secret of a new room: a name of 128 random bits and a key of 256, both in base64url. Both together give
 * access, so keep `mk` out of URL paths and queries.
 *
 * @example
 * const { room, mk } = newRoomSecret()
 * const link = `https://api.example/space#${room}.${mk}`
 */
export function newRoomSecret(): RoomSecret {
  return { room: randomId(), mk: encodeBase64url(crypto.getRandomValues(new Uint8Array(32))) }
}

/** 128 random bits, 22 characters. crypto.randomUUID is not available in a page without a secure context. */
export function randomId(): string {
  return encodeBase64url(crypto.getRandomValues(new Uint8Array(16)))
}
