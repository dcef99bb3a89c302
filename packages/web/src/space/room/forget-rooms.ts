import type { RoomLink } from '../room-link.ts'
import { hashOf, serviceOrigin } from '../service.ts'
import { readRooms, storeRooms, without } from './kept-rooms.ts'
import { dropLines } from './line-cache.ts'

/** `service`: in a file, that of the room. */
export function forgetRoom(link: RoomLink, service = serviceOrigin()): void {
  const others = without(readRooms(), hashOf(link, service))
  storeRooms(others)
  // The lines are stored by the name of the room: those of a kept room stay, because they show whether its history was rewritten.
  if (!others.some(({ room }) => room === link.room)) void dropLines(link.room)
}

export function forgetRooms(): void {
  storeRooms([])
  void dropLines()
}
