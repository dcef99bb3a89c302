import type { KeyObject } from 'node:crypto'
import { lineHash, sealLine } from '@atrium/sealing/node-lines'
import { formatRecord, type PolicyRecord } from '@atrium/sealing/records'
import type { Caller, SpaceContext } from '../space-context.ts'
import type { RoomHead } from './head.ts'
import { insertRoom } from './store.ts'

/**
 * Makes a room whose line 0 is its policy; says why not when there is, or was, one of this name. Throws SpaceError when the caller may make or write no
 * more now.
 */
export async function makeRoom(
  { db, use }: Pick<SpaceContext, 'db' | 'use'>,
  { room, key, policy }: { room: string; key: KeyObject; policy: PolicyRecord },
  caller: Pick<Caller, 'key'>,
): Promise<RoomHead | 'exists' | 'removed'> {
  const line = sealLine({ key, seq: 0, payload: formatRecord(policy) })
  const etag = lineHash(line)
  const head = { room, count: 1, etag, bytes: line.length, policySeq: 0, policyHash: etag, policyLine: line }
  const takeBack = use.write(caller.key, head.bytes)
  let outcome
  try {
    outcome = await insertRoom(db, head, use.roomLimits(caller.key))
  } finally {
    if (outcome !== 'made') takeBack()
  }
  if (outcome === 'limited') throw use.tooManyRooms()
  return outcome === 'made' ? head : outcome
}
