import { deleteRoom, roomChannel } from '../rooms/store.ts'
import type { SpaceContext } from '../space-context.ts'
import { assertOwner, authorise } from './authorise.ts'
import { getOpenRoom } from './open-room.ts'
import type { RemoveRequest } from './request.ts'

/** Removes the room with all its lines permanently. Only its owner may. */
export async function remove(ctx: SpaceContext, request: RemoveRequest) {
  const opened = await getOpenRoom(ctx, request)
  assertOwner(opened.policy, await authorise(ctx, request, opened.policy))
  await deleteRoom(ctx.db, request.room)
  ctx.db.wake(roomChannel, request.room)
  ctx.writer.forget(request.room)
  return { ok: true }
}
