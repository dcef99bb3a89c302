import { readCard } from '@atrium/room-client/room-device'
import { listedLink, ownerIn, type RoomLink } from '../room-link.ts'
import { invitationLink } from '../service.ts'

/** As in docs/space/client-sealed.md: the name of the room, that of the owner's device, and the card of another device. */
const SECOND = /^#([\w-]{1,128})~~([\w-]{43})~([\w.-]{1,2000})$/

interface SecondDevice {
  link: RoomLink
  card: string
  key: string
  /** The device that its card names. */
  first: unknown
}

/** What the link of a second device says. none: its card is not valid, or not for this room. */
export async function readSecondDevice(fragment: string): Promise<SecondDevice | 'none'> {
  const [, room = '', owner = '', card = ''] = SECOND.exec(fragment) ?? []
  const read = await readCard(card, room)
  return read ? { link: listedLink(room, owner), card, key: read.key, first: read.member } : 'none'
}

/** On a device that is on the list: the link that its second device opens first. It is no secret. */
export function secondDeviceLink(link: RoomLink, own: string): string {
  return invitationLink(`${link.room}~~${ownerIn(link)}~${own}`)
}
