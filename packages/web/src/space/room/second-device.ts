import { readCard } from '@atrium/room-client/room-device'
import { listedLink, type RoomLink } from '../room-link.ts'

/** As in docs/space/client-sealed.md: the name of the room, that of the owner's device, and the card of another device. */
const SECOND = /^#([\w-]{1,128})~~([\w-]{43})~([\w.-]{1,2000})$/

/** What the link of a second device says. none: its card is not valid, or not for this room. */
export async function readSecondDevice(fragment: string): Promise<{ link: RoomLink; card: string; key: string } | 'none'> {
  const [, room = '', owner = '', card = ''] = SECOND.exec(fragment) ?? []
  const read = await readCard(card, room)
  return read ? { link: listedLink(room, owner), card, key: read.key } : 'none'
}
