import { isMk, isRoomName, type RoomSecret } from '@atrium/sealing/room-secret'

/** What comes after the path: `#<room>.<mk>`. Browsers keep it to themselves. */
export function formatFragment({ room, mk }: RoomSecret): string {
  return `#${room}.${mk}`
}

/** Undefined when the fragment is not that of a whole link. */
export function parseFragment(fragment: string): RoomSecret | undefined {
  const [, room, mk] = /^#?([^.]*)\.(.*)$/.exec(fragment.trim()) ?? []
  return isRoomName(room) && isMk(mk) ? { room, mk } : undefined
}
