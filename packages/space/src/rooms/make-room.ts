import type { KeyObject } from 'node:crypto'
import { lineHash, sealLine } from '@atrium/sealing/node-lines'
import { formatRecord, type PolicyRecord } from '@atrium/sealing/records'
import type { RoomHead } from './head.ts'
import { type Db, type InsertOutcome, insertRoom } from './store.ts'

/** Makes a room whose line 0 is its policy; says why not when there is, or was, one of this name. */
export async function makeRoom(
  db: Db,
  room: string,
  key: KeyObject,
  policy: PolicyRecord,
): Promise<RoomHead | Exclude<InsertOutcome, 'made'>> {
  const line = sealLine({ key, seq: 0, payload: formatRecord(policy) })
  const etag = lineHash(line)
  const head = { room, count: 1, etag, bytes: line.length, policySeq: 0, policyHash: etag, policyLine: line }
  const outcome = await insertRoom(db, head)
  return outcome === 'made' ? head : outcome
}
