import { isMk, isRoomName, type RoomSecret } from '@atrium/sealing/room-secret'

/**
 * The link of a room. classic: the service gets the key with each request. client-sealed: it never gets it
 * (docs/space/client-sealed.md).
 */
export interface RoomLink extends RoomSecret {
  readonly kind: 'classic' | 'client-sealed'
}

/** The fragment of a room's address, `#<room>.<mk>` or, if clients seal its lines, `#<room>~<mk>`. Browsers do not send it. */
export function formatFragment({ room, mk, kind }: RoomLink): string {
  return `#${room}${kind === 'classic' ? '.' : '~'}${mk}`
}

/** Undefined if the fragment is not that of a complete link. */
export function parseFragment(fragment: string): RoomLink | undefined {
  const [, room, mark, mk] = /^#?([^.~]*)([.~])(.*)$/.exec(fragment.trim()) ?? []
  return isRoomName(room) && isMk(mk) ? { room, mk, kind: mark === '.' ? 'classic' : 'client-sealed' } : undefined
}
