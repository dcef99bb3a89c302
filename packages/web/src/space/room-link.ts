import { encodeBase64url } from '@atrium/sealing/base64url'
import { isMk, isRoomName, type RoomSecret } from '@atrium/sealing/room-secret'

/** A room nobody has made yet: its name of 22 characters, its key of 32 bytes, both from the browser's random numbers. */
export function makeRoomSecret(): RoomSecret {
  return { room: randomId(), mk: encodeBase64url(crypto.getRandomValues(new Uint8Array(32))) }
}

/** 128 random bits, 22 characters. */
export function randomId(): string {
  return encodeBase64url(crypto.getRandomValues(new Uint8Array(16)))
}

/** What comes after the path: `#<room>.<mk>`. Browsers keep it to themselves. */
export function formatFragment({ room, mk }: RoomSecret): string {
  return `#${room}.${mk}`
}

/** Undefined when the fragment is not that of a whole link. */
export function parseFragment(fragment: string): RoomSecret | undefined {
  const [, room, mk] = /^#?([^.]*)\.(.*)$/.exec(fragment.trim()) ?? []
  return isRoomName(room) && isMk(mk) ? { room, mk } : undefined
}
