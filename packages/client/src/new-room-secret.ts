import { encodeBase64url } from '@atrium/sealing/base64url'
import type { RoomSecret } from '@atrium/sealing/room-secret'
import { randomId } from './random-id.ts'

/** A room that nobody has been in: a name of 128 random bits, and a key of 256. Whoever holds both is in; keep `mk` out of addresses. */
export function newRoomSecret(): RoomSecret {
  return { room: randomId(), mk: encodeBase64url(crypto.getRandomValues(new Uint8Array(32))) }
}
