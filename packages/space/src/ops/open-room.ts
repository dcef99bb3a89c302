import type { KeyObject } from 'node:crypto'
import type { PolicyRecord } from '@atrium/sealing/records'
import { deriveRoomKey } from '@atrium/sealing/room-key'
import { isMk } from '@atrium/sealing/room-secret'
import type { RoomHead } from '../rooms/head.ts'
import { openPolicy } from '../rooms/access.ts'
import type { SpaceContext } from '../space-context.ts'
import { SpaceError } from '../space-error.ts'

/**
 * A room that the caller's key opens. The key belongs to the caller and is kept only for the length of the request.
 */
export interface OpenRoom {
  head: RoomHead
  key: KeyObject
  policy: PolicyRecord
}

export function roomKeyOf({ room, mk }: { room: string; mk: string }): KeyObject {
  if (!isMk(mk)) throw new SpaceError('invalid_request', 'mk must have 22 to 512 printable ASCII characters without spaces')
  return deriveRoomKey({ room, mk })
}

/** Reads the current head of the room and opens its policy; undefined if the room does not exist. */
export async function findOpenRoom(ctx: SpaceContext, request: { room: string; mk: string }): Promise<OpenRoom | undefined> {
  const key = roomKeyOf(request)
  const head = await ctx.heads.add(request.room)
  return head && { head, key, policy: openPolicy(head, key) }
}

export async function getOpenRoom(ctx: SpaceContext, request: { room: string; mk: string }): Promise<OpenRoom> {
  const opened = await findOpenRoom(ctx, request)
  if (!opened) throw new SpaceError('not_found', 'room')
  return opened
}
