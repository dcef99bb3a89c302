import { isMk, isRoomName, type RoomSecret } from '@atrium/sealing/room-secret'

/**
 * The link of a room. classic: the service gets the key with each request. client-sealed: it never gets it
 * (docs/space/client-sealed.md). listed: it never gets it, and only devices on the room's list do. In place of a key, `mk`
 * is then `~` and the name of the owner's device, which is no secret.
 */
export interface RoomLink extends RoomSecret {
  readonly kind: 'classic' | 'client-sealed' | 'listed'
}

/** The fragment of a room's address, `#<room>.<mk>` or, if clients seal its lines, `#<room>~<mk>`. Browsers do not send it. */
export function formatFragment({ room, mk, kind }: RoomLink): string {
  return `#${room}${kind === 'classic' ? '.' : '~'}${mk}`
}

/** Undefined if the fragment is not that of a complete link. */
export function parseFragment(fragment: string): RoomLink | undefined {
  const [, room, mark, mk] = /^#?([^.~]*)([.~])(.*)$/.exec(fragment.trim()) ?? []
  if (!isRoomName(room) || !isMk(mk)) return undefined
  return { room, mk, kind: mark === '.' ? 'classic' : OWNER.test(mk) ? 'listed' : 'client-sealed' }
}

const OWNER = /^~[\w-]{43}$/

export function listedLink(room: string, owner: string): RoomLink {
  return { room, mk: `~${owner}`, kind: 'listed' }
}

/** The name of the owner's device, in the link of a listed room. */
export function ownerIn({ mk }: RoomLink): string {
  return mk.slice(1)
}
