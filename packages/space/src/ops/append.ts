import { placeLine } from '@atrium/sealing/signed-request'
import type { Caller, SpaceContext } from '../space-context.ts'
import { SpaceError } from '../space-error.ts'
import { appendCounted } from './append-counted.ts'
import { assertLineFits, getKeyedRoom } from './keyed-room.ts'
import type { AppendRequest } from './request.ts'

/** The size of a line's place in the chain. */
const placeBytes = 100

/** Stores a line that the client sealed, behind the last one. A repeat of the dedupe value is stored once. */
export async function append(ctx: SpaceContext, request: AppendRequest, caller: Caller) {
  const { room, line, dedupe } = request
  assertLineFits(line)
  const head = await getKeyedRoom(ctx, request, { known: ctx.writer.knownHead(room) })
  const outcome = await appendCounted(ctx, caller, line.length + placeBytes, {
    head,
    seal: (position) => placeLine(line, position),
    isPolicy: false,
    dedupe,
  })
  // The policy of such a room is its line 0, as far as the service knows.
  if (outcome.kind === 'policy_changed') throw new SpaceError('unavailable', 'the room is too busy', 1)
  return { ok: true, seq: outcome.seq, etag: outcome.head.etag, count: outcome.head.count }
}
