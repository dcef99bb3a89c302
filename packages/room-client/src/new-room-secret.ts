import { encodeBase64url } from '@atrium/sealing/base64url'
import type { RoomSecret } from '@atrium/sealing/room-secret'

/** A room that nobody has been in: a name of 128 random bits, and a key of 256. Whoever holds both is in; keep `mk` out of addresses. */
export function newRoomSecret(): RoomSecret {
  return { room: randomId(), mk: encodeBase64url(crypto.getRandomValues(new Uint8Array(32))) }
}

/** 128 random bits, 22 characters. Not crypto.randomUUID: a page that is not served securely does not have that. */
export function randomId(): string {
  return encodeBase64url(crypto.getRandomValues(new Uint8Array(16)))
}
