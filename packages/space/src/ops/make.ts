import { decodeBase64url } from '@atrium/identity/base64url'
import { placeLine } from '@atrium/sealing/signed-request'
import { assertOwnerSigned, findDeviceList } from '../rooms/device-list.ts'
import { makeKeyedRoom } from '../rooms/make-room.ts'
import type { Caller, SpaceContext } from '../space-context.ts'
import { SpaceError } from '../space-error.ts'
import { assertLineFits, assertSigned, getListed } from './keyed-room.ts'
import type { MakeRequest } from './request.ts'

/**
 * Creates a room whose lines the clients seal. The signature proves that the caller has the access key. If the line has
 * a list of devices, its owner must be the caller.
 */
export async function make(ctx: SpaceContext, request: MakeRequest, caller: Caller) {
  const { room, access } = request
  assertLineFits(request.line)
  const nowMs = Date.now()
  await assertSigned(ctx, request, access, nowMs)
  const list = findDeviceList(request.line)
  if (list) {
    assertOwnerSigned(list, getListed(request, list, nowMs))
    // As in append: readers refuse a key that is not in the canonical spelling.
    if (list.room !== room || list.access !== access || list.prev !== undefined || !decodeBase64url(access))
      throw new SpaceError('invalid_request', '/line has the list of another room, or its access key is not valid')
  }
  const line = placeLine(request.line, { seq: 0 })
  const head = await makeKeyedRoom(ctx, { room, line, accessKey: list ? '' : access }, caller)
  if (typeof head === 'string')
    throw new SpaceError('room_exists', head === 'removed' ? 'a room of this name was removed' : 'room')
  return { ok: true, etag: head.etag, count: head.count }
}
