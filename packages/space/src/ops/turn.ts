import { randomFillSync } from 'node:crypto'
import { MAX_TEXT_BYTES, type TurnRecord } from '@atrium/sealing/records'
import { openPolicy, openRecord } from '../rooms/access.ts'
import { makeRoom } from '../rooms/make-room.ts'
import type { AppendOutcome } from '../rooms/plan-lines.ts'
import { listLines } from '../rooms/store.ts'
import type { Caller, SpaceContext } from '../space-context.ts'
import { DamagedRoom, SpaceError } from '../space-error.ts'
import { appendRecord, maxTries } from './append-counted.ts'
import { authorise, authorOf } from './authorise.ts'
import { dedupeOf } from './dedupe.ts'
import { findOpenRoom, type OpenRoom, roomKeyOf } from './open-room.ts'
import type { TurnRequest } from './request.ts'

/**
 * Writes a message. If the room does not exist, creates an open one first. A repeat of a client_id is stored once.
 */
export async function turn(ctx: SpaceContext, request: TurnRequest, caller: Caller) {
  const { message } = request
  if (Buffer.byteLength(message.text) > MAX_TEXT_BYTES)
    throw new SpaceError('invalid_request', `/message/text must not have more than ${MAX_TEXT_BYTES} bytes of UTF-8`)
  for (let tried = 0; tried < maxTries; tried++) {
    const { opened, requester } = await openAuthorised(ctx, request, caller)
    if (request.name !== undefined && (requester.account || requester.agent))
      throw new SpaceError('invalid_request', 'name is for guests: an idToken has the name of its bearer')
    const author = authorOf(requester, request.name)
    const record: TurnRecord = { t: 'turn', id: newEntryId(), at: new Date().toISOString(), author, message }
    const outcome = await appendRecord(ctx, caller, { ...opened, record, dedupe: dedupeOf(request, requester) })
    // The list changed between the check and the write, so access is checked again.
    if (outcome.kind !== 'policy_changed') return answer(ctx, opened, record, outcome)
    ctx.writer.forget(request.room)
  }
  throw new SpaceError('unavailable', 'the room is too busy', 1)
}

/** The list that this process knows may be old. A write by it compares the end of the room, and a refusal reads it again. */
async function openAuthorised(ctx: SpaceContext, request: TurnRequest, caller: Caller) {
  const authorised = async (opened: OpenRoom) => ({ opened, requester: await authorise(ctx, request, opened.policy) })
  const head = ctx.writer.knownHead(request.room)
  if (head) {
    const key = roomKeyOf(request)
    const known = await authorised({ head, key, policy: openPolicy(head, key) }).catch((error: unknown) => {
      if (!(error instanceof SpaceError) || !['not_on_list', 'revoked'].includes(error.reason)) throw error
    })
    if (known) return known
  }
  return authorised(await openOrMake(ctx, request, caller))
}

async function openOrMake(ctx: SpaceContext, request: TurnRequest, caller: Caller): Promise<OpenRoom> {
  const found = await findOpenRoom(ctx, request)
  if (found) return found
  const key = roomKeyOf(request)
  const policy = { t: 'policy' as const, policy: 'open' as const, at: new Date().toISOString() }
  // A refused write stores nothing, not even an empty room.
  await authorise(ctx, request, policy)
  const head = await makeRoom(ctx, { room: request.room, key, policy }, caller)
  if (head === 'removed') throw new SpaceError('not_found', 'room')
  // Another request created the room at the same moment: its policy applies.
  return head === 'exists' ? openOrMake(ctx, request, caller) : { head, key, policy }
}

async function answer(
  ctx: SpaceContext,
  { key }: OpenRoom,
  record: TurnRecord,
  outcome: Exclude<AppendOutcome, { kind: 'policy_changed' }>,
) {
  const { seq, head } = outcome
  const stored = outcome.kind === 'written' ? record : await readTurn(ctx, head.room, seq, key)
  return { ok: true, seq, id: stored.id, at: stored.at, etag: head.etag, count: head.count }
}

async function readTurn(ctx: SpaceContext, room: string, seq: number, key: OpenRoom['key']): Promise<TurnRecord> {
  const [line] = await listLines(ctx.db, room, seq, seq + 1)
  const record = line === undefined ? undefined : openRecord(room, seq, line, key)
  if (record?.t !== 'turn') throw new DamagedRoom(room, seq, 'a turn is missing')
  return record
}

const idBytes = 16
/** One call for random bytes serves many ids, because it costs as much as sealing the line. */
const pool = Buffer.alloc(256 * idBytes)
let used = pool.length

/** 128 random bits. */
function newEntryId(): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  return pool.subarray(used, (used += idBytes)).toString('base64url')
}
