import type { PolicyRecord } from '@atrium/sealing/records'
import type { Caller, SpaceContext } from '../space-context.ts'
import { SpaceError } from '../space-error.ts'
import { appendRecord, maxTries } from './append-counted.ts'
import { assertOwner, authorise } from './authorise.ts'
import { dedupeOfProof } from './dedupe.ts'
import { getOpenRoom } from './open-room.ts'
import type { AdmitRequest, ExpelRequest, RenameRequest } from './request.ts'

/** Appends the owner's change as a new, full policy record. The old records stay, and are the log of the room. */
export async function changePolicy(
  ctx: SpaceContext,
  request: AdmitRequest | ExpelRequest | RenameRequest,
  caller: Caller,
  change: (policy: PolicyRecord, at: string) => PolicyRecord,
) {
  for (let tried = 0; tried < maxTries; tried++) {
    const opened = await getOpenRoom(ctx, request)
    const requester = await authorise(ctx, request, opened.policy)
    assertOwner(opened.policy, requester)
    const record = change(opened.policy, new Date().toISOString())
    const outcome = await appendRecord(ctx, caller, { ...opened, record, dedupe: dedupeOfProof(request, requester) })
    if (outcome.kind !== 'policy_changed') return { ok: true, etag: outcome.head.etag, count: outcome.head.count }
    ctx.writer.forget(request.room)
  }
  throw new SpaceError('unavailable', 'the room is too busy', 1)
}
