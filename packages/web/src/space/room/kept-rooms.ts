import { isMk, isRoomName } from '@atrium/sealing/room-secret'
import type { RoomLink } from '../room-link.ts'
import { hashOf, isFile, serviceOrigin } from '../service.ts'
import { Store } from '../store.ts'

/** A room whose link, with its key, is stored on this device because the visitor asked for it. */
export interface KeptRoom extends RoomLink {
  readonly title: string | undefined
  /** What the visitor calls the room. Nobody else sees it. */
  readonly name?: string | undefined
  readonly at: string
  /** In a room with a list, which has no title: who else was on it at the latest visit. */
  readonly others?: OtherMembers | undefined
  /** In the app in one file: the origin of the service that has the room. */
  readonly service?: string | undefined
}

export interface OtherMembers {
  readonly names: readonly string[]
  /** How many others are not named. */
  readonly more: number
}

const KEY = 'atrium.space.rooms'
const MAX_KEPT = 200

/** Ordered by the latest visit. Read again when another tab changes them. */
export const keptRoomsStore = new Store<{ rooms: readonly KeptRoom[] }>({ rooms: readRooms() })
addEventListener('storage', ({ key }) => {
  if (key === KEY || key === null) keptRoomsStore.update({ rooms: readRooms() })
})

/** full: the list has no place, and nothing is dropped for it. refused: the browser stores nothing. */
export type Keeping = 'kept' | 'full' | 'refused'

/** `others`: by default as they were kept. */
export function keepRoom(link: RoomLink, title: string | undefined, others?: OtherMembers): Keeping {
  const { room, mk, kind } = link
  const rooms = readRooms()
  const rest = without(rooms, hashOf(link))
  if (rest.length >= MAX_KEPT) return 'full'
  const before = rooms.find((one) => !rest.includes(one))
  const kept: KeptRoom = {
    ...before,
    room,
    mk,
    kind,
    title,
    at: new Date().toISOString(),
    ...(others && { others }),
    ...(isFile() && { service: serviceOrigin() }),
  }
  return storeRooms([kept, ...rest]) ? 'kept' : 'refused'
}

/**
 * Identifies a kept room: by its key and, in the app in one file, its service. If the name alone did, a link with another
 * key would replace this one, whose key may be nowhere else.
 */
export function keptName(kept: KeptRoom): string {
  return hashOf(kept, kept.service)
}

export function findKept(link: RoomLink, { rooms } = keptRoomsStore.value): KeptRoom | undefined {
  return rooms.find((one) => keptName(one) === hashOf(link))
}

export function canKeepAnother(): boolean {
  return readRooms().length < MAX_KEPT
}

/** Stores the current title with the room, and the others if they are given, if this device keeps the room. */
export function refreshRoom(link: RoomLink, title: string | undefined, others?: OtherMembers): void {
  if (findKept(link, { rooms: readRooms() })) keepRoom(link, title, others)
}

/** Returns whether the browser has stored it. Undefined: the room is called by its title again. */
export function nameRoom(link: RoomLink, name: string | undefined): boolean {
  return storeRooms(readRooms().map((one) => (keptName(one) === hashOf(link) ? { ...one, name } : one)))
}

export function without(rooms: readonly KeptRoom[], name: string): KeptRoom[] {
  return rooms.filter((one) => keptName(one) !== name)
}

/** Returns whether the browser has stored them. */
export function storeRooms(rooms: readonly KeptRoom[]): boolean {
  try {
    if (rooms.length > 0) localStorage.setItem(KEY, JSON.stringify(rooms))
    else localStorage.removeItem(KEY)
  } catch {
    return false
  }
  keptRoomsStore.update({ rooms })
  return true
}

export function readRooms(): readonly KeptRoom[] {
  try {
    const rooms = JSON.parse(localStorage.getItem(KEY) ?? '[]') as KeptRoom[]
    // A room that was stored before there were two kinds has none.
    return rooms.flatMap((kept) => (isRoomName(kept.room) && isMk(kept.mk) ? [{ ...kept, kind: kept.kind ?? 'classic' }] : []))
  } catch {
    return []
  }
}
