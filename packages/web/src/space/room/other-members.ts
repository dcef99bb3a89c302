import type { RoomLink } from '../room-link.ts'
import { memberName } from '../components/members.ts'
import { findKept, type OtherMembers, refreshRoom } from './kept-rooms.ts'
import type { RoomList } from './room-list.ts'

const MAX_NAMES = 3

/** Who else is on the list. A second device of a member has that member's name, and is not counted. */
export function otherMembers({ members, own }: Pick<RoomList, 'members' | 'own'>): OtherMembers {
  const names = new Set(members.map(memberName))
  for (const member of members) if (member.key === own) names.delete(memberName(member))
  return { names: [...names].slice(0, MAX_NAMES), more: Math.max(names.size - MAX_NAMES, 0) }
}

/** Stores the current members with the room, if this device keeps it. */
export function refreshMembers(link: RoomLink, list: Pick<RoomList, 'members' | 'own'>): void {
  const kept = findKept(link)
  const others = otherMembers(list)
  if (kept && JSON.stringify(kept.others) !== JSON.stringify(others)) refreshRoom(link, kept.title, others)
}
