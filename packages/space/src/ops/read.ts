import type { Caller, SpaceContext } from '../space-context.ts'
import { holdRead } from './hold-read.ts'
import { getKeyedRoom } from './keyed-room.ts'
import type { ReadRequest } from './request.ts'

/** Returns new lines as they are stored, or waits up to waitMs for them. */
export function read(ctx: SpaceContext, request: ReadRequest, caller: Caller) {
  const receivedMs = Date.now()
  return holdRead(ctx, request, caller, {
    open: () => getKeyedRoom(ctx, request, { receivedMs }),
    findBreak: undefined,
    answer: (_opened, { etag, count, lines }) => ({ etag, count, lines }),
  })
}
