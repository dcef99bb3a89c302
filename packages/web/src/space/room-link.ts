import { isMk, isRoomName, type RoomSecret } from '@atrium/sealing/room-secret'

/**
 * The link of a room. classic: the service gets the key with each request. client-sealed: it never gets it
 * (docs/space/client-sealed.md). listed: it never gets it, and only devices on the room's list do. In place of a key, `mk`
 * is then `~` and the name of the owner's device, which is no secret.
 */
export interface RoomLink extends RoomSecret {
  readonly kind: 'classic' | 'client-sealed' | 'listed'
  /** The name of the device whose second device this one is to be: its link has it after that of the owner's device. */
  readonly first?: string
}

/** The fragment of a room's address, `#<room>.<mk>` or, if clients seal its lines, `#<room>~<mk>`. Browsers do not send it. */
export function formatFragment({ room, mk, kind }: RoomLink): string {
  return `#${room}${kind === 'classic' ? '.' : '~'}${mk}`
}

/** Undefined if the fragment is not that of a complete link. */
export function parseFragment(fragment: string): RoomLink | undefined {
  const [, room, mark, mk] = /^#?([^.~]*)([.~])(.*)$/.exec(fragment.trim()) ?? []
  if (!isRoomName(room) || !isMk(mk)) return undefined
  if (mark === '.') return { room, mk, kind: 'classic' }
  const [, owner, first] = LISTED.exec(mk) ?? []
  return owner === undefined
    ? { room, mk, kind: 'client-sealed' }
    : { room, mk: owner, kind: 'listed', ...(first !== undefined && { first }) }
}

const LISTED = /^(~[\w-]{43})(?:~([\w-]{43}))?$/

export function listedLink(room: string, owner: string): RoomLink {
  return { room, mk: `~${owner}`, kind: 'listed' }
}

/** The name of the owner's device, in the link of a listed room. */
export function ownerIn({ mk }: RoomLink): string {
  return mk.slice(1)
}
