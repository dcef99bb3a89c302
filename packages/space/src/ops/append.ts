import { decodeBase64url } from '@atrium/identity/base64url'
import { placeLine } from '@atrium/sealing/signed-request'
import { assertOwnerSigned, findDeviceList } from '../rooms/device-list.ts'
import type { Caller, SpaceContext } from '../space-context.ts'
import { SpaceError } from '../space-error.ts'
import { appendCounted, maxTries } from './append-counted.ts'
import { assertLineFits, getKeyedRoom, importAccessKey, type KeyedRoom } from './keyed-room.ts'
import type { AppendRequest } from './request.ts'

/** The size of a line's place in the chain. */
const placeBytes = 100

/**
 * Stores a line that the client sealed, behind the last one. A repeat of the dedupe value is stored once. A line with a
 * list of devices replaces the list and the access key in the same statement.
 */
export async function append(ctx: SpaceContext, request: AppendRequest, caller: Caller) {
  const { room, line, dedupe } = request
  assertLineFits(line)
  for (let tried = 0; tried < maxTries; tried++) {
    const keyed = await getKeyedRoom(ctx, request, { known: ctx.writer.knownHead(room) })
    const outcome = await appendCounted(ctx, caller, line.length + placeBytes, {
      head: keyed.head,
      seal: (position) => placeLine(line, position),
      isPolicy: isNewList(keyed, line),
      dedupe,
    })
    // The list changed between the check and the write, so access is checked again.
    if (outcome.kind !== 'policy_changed')
      return { ok: true, seq: outcome.seq, etag: outcome.head.etag, count: outcome.head.count }
    ctx.writer.forget(room)
  }
  throw new SpaceError('unavailable', 'the room is too busy', 1)
}

/** Whether the line has a new list of devices. Throws SpaceError unless it follows the list in force, and is the owner's. */
function isNewList({ head, listed }: KeyedRoom, line: string): boolean {
  const next = listed && findDeviceList(line)
  if (!listed || !next) return false
  assertOwnerSigned(next, listed.device)
  if (next.owner !== listed.list.owner) throw new SpaceError('not_authorized', 'not_owner')
  if (next.prev !== head.policyHash) throw new SpaceError('room_exists', 'list_changed')
  // Readers refuse a key that is not in the canonical spelling, and nobody could write after it.
  if (next.room !== head.room || !decodeBase64url(next.access) || !importAccessKey(next.access))
    throw new SpaceError('invalid_request', '/line is of another room, or its access key is not valid')
  return true
}
