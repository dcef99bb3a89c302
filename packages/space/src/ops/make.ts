import { placeLine } from '@atrium/sealing/signed-request'
import { makeKeyedRoom } from '../rooms/make-room.ts'
import type { Caller, SpaceContext } from '../space-context.ts'
import { SpaceError } from '../space-error.ts'
import { assertLineFits, assertSigned } from './keyed-room.ts'
import type { MakeRequest } from './request.ts'

/** Creates a room whose lines the clients seal. The signature proves that the caller has the access key. */
export async function make(ctx: SpaceContext, request: MakeRequest, caller: Caller) {
  const { room, access: accessKey } = request
  assertLineFits(request.line)
  await assertSigned(ctx, request, accessKey, Date.now())
  const line = placeLine(request.line, { seq: 0 })
  const head = await makeKeyedRoom(ctx, { room, line, accessKey }, caller)
  if (typeof head === 'string')
    throw new SpaceError('room_exists', head === 'removed' ? 'a room of this name was removed' : 'room')
  return { ok: true, etag: head.etag, count: head.count }
}
