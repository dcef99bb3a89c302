import type { KeyObject } from 'node:crypto'
import { lineHash, sealLine } from '@atrium/sealing/node-lines'
import { formatRecord, type PolicyRecord } from '@atrium/sealing/records'
import type { Caller, SpaceContext } from '../space-context.ts'
import type { RoomHead } from './head.ts'
import { insertRoom, listEnds } from './store.ts'

type MakeContext = Pick<SpaceContext, 'db' | 'use'>
type MakeCaller = Pick<Caller, 'key'>

/**
 * Creates a room whose line 0 is its policy. Returns why not if a room of this name exists or existed. Throws
 * SpaceError if the caller may create or write no more now.
 */
export function makeRoom(
  ctx: MakeContext,
  { room, key, policy }: { room: string; key: KeyObject; policy: PolicyRecord },
  caller: MakeCaller,
): Promise<RoomHead | 'exists' | 'removed'> {
  const line = sealLine({ key, seq: 0, payload: formatRecord(policy) })
  return insertFirstLine(ctx, { room, line, policyLine: line, accessKey: undefined }, caller)
}

/** The same for a room whose lines the clients seal. `line` is its line 0. `accessKey`: empty if the line has it. */
export function makeKeyedRoom(
  ctx: MakeContext,
  made: { room: string; line: string; accessKey: string },
  caller: MakeCaller,
): Promise<RoomHead | 'exists' | 'removed'> {
  return insertFirstLine(ctx, { ...made, policyLine: made.accessKey === '' ? made.line : '' }, caller)
}

async function insertFirstLine(
  { db, use }: MakeContext,
  { line, ...made }: Pick<RoomHead, 'room' | 'policyLine' | 'accessKey'> & { line: string },
  caller: MakeCaller,
): Promise<RoomHead | 'exists' | 'removed'> {
  const etag = lineHash(line)
  const head = { ...made, count: 1, etag, bytes: line.length, policySeq: 0, policyHash: etag }
  let takeBack
  try {
    takeBack = use.write(caller.key, head.bytes)
  } catch (error) {
    // A name that is in use is reported even if nothing more may be written: the request may be a repeat of one that
    // succeeded.
    if ((await listEnds(db, [made.room])).has(made.room)) return 'exists'
    throw error
  }
  let outcome
  try {
    outcome = await insertRoom(db, head, line, use.roomLimits(caller.key))
  } finally {
    if (outcome !== 'made') takeBack()
  }
  if (outcome === 'limited') throw use.tooManyRooms()
  return outcome === 'made' ? head : outcome
}
