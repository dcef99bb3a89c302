import { callAsDevice } from './call-as-device.ts'
import { pastTheEnd } from './follow-room.ts'
import type { ListedRoomOptions } from './listed-types.ts'
import { SpaceCallError } from './space-call-error.ts'

/**
 * Whether the list in force has this device, or the device of an invitation. It reads one line and needs no key of the room.
 * Throws SpaceCallError.
 */
export async function isOnList(options: ListedRoomOptions, signal?: AbortSignal): Promise<boolean> {
  try {
    await callAsDevice(options, { op: 'read', room: options.room, ...pastTheEnd, limit: 1 }, { signal })
    return true
  } catch (error) {
    if (isRefused(error)) return false
    throw error
  }
}

/** The service does not let the device read the room. */
export function isRefused(error: unknown): boolean {
  return error instanceof SpaceCallError && ['not_on_list', 'revoked', 'bad_room_key'].includes(error.reason)
}
