import { findKept, keptRoomsStore } from '../room/kept-rooms.ts'
import type { RoomSession } from '../room/room-session.ts'
import { t } from '../text/text.ts'
import { useStore } from '../use-store.ts'

/** What this device calls the room: by the visitor's own name for a room that it keeps, or by the title. */
export function useRoomName({ secret, state }: RoomSession): string {
  const own = useStore(keptRoomsStore, (value) => findKept(secret, value)?.name)
  const title = useStore(state, (value) => value.title)
  return own ?? title ?? t.room.untitled
}
