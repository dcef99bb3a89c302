import { isMk, isRoomName, type RoomSecret } from '@atrium/sealing/room-secret'

/** The fragment of a room's address: `#<room>.<mk>`. Browsers do not send it. */
export function formatFragment({ room, mk }: RoomSecret): string {
  return `#${room}.${mk}`
}

/** Undefined if the fragment is not that of a complete link. */
export function parseFragment(fragment: string): RoomSecret | undefined {
  const [, room, mk] = /^#?([^.]*)\.(.*)$/.exec(fragment.trim()) ?? []
  return isRoomName(room) && isMk(mk) ? { room, mk } : undefined
}
