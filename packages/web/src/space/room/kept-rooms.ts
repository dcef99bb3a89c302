import { isMk, isRoomName } from '@atrium/sealing/room-secret'
import type { RoomLink } from '../room-link.ts'
import { isFile, serviceOrigin } from '../service.ts'
import { Store } from '../store.ts'
import { dropLines } from './line-cache.ts'

/** A room whose link, with its key, is stored on this device because the visitor asked for it. */
export interface KeptRoom extends RoomLink {
  readonly title: string | undefined
  readonly at: string
  /** In the app in one file: the origin of the service that has the room. */
  readonly service?: string | undefined
}

const KEY = 'atrium.space.rooms'
const MAX_KEPT = 200

/** Ordered by the latest visit. Read again when another tab changes them. */
export const keptRoomsStore = new Store<{ rooms: readonly KeptRoom[] }>({ rooms: readRooms() })
addEventListener('storage', ({ key }) => {
  if (key === KEY || key === null) keptRoomsStore.update({ rooms: readRooms() })
})

/** Resolves to whether the browser stores it. */
export function keepRoom({ room, mk, kind }: RoomLink, title: string | undefined): boolean {
  const kept: KeptRoom = { room, mk, kind, title, at: new Date().toISOString(), ...(isFile() && { service: serviceOrigin() }) }
  return write([kept, ...readRooms().filter((one) => one.room !== room)].slice(0, MAX_KEPT))
}

/** Stores the current title with the room. */
export function refreshRoom(secret: RoomLink, title: string | undefined): void {
  if (readRooms().some(({ room }) => room === secret.room)) keepRoom(secret, title)
}

export function forgetRoom(room: string): void {
  write(readRooms().filter((one) => one.room !== room))
  void dropLines(room)
}

export function forgetRooms(): void {
  write([])
  void dropLines()
}

function write(rooms: readonly KeptRoom[]): boolean {
  try {
    if (rooms.length > 0) localStorage.setItem(KEY, JSON.stringify(rooms))
    else localStorage.removeItem(KEY)
  } catch {
    return false
  }
  keptRoomsStore.update({ rooms })
  return true
}

function readRooms(): readonly KeptRoom[] {
  try {
    const rooms = JSON.parse(localStorage.getItem(KEY) ?? '[]') as KeptRoom[]
    // A room that was stored before there were two kinds has none.
    return rooms.flatMap((kept) => (isRoomName(kept.room) && isMk(kept.mk) ? [{ ...kept, kind: kept.kind ?? 'classic' }] : []))
  } catch {
    return []
  }
}
