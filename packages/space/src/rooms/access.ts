import type { KeyObject } from 'node:crypto'
import { DamagedLine } from '@atrium/sealing/damaged-line'
import { InvalidRecord } from '@atrium/sealing/invalid-record'
import { lineHash, openLine } from '@atrium/sealing/node-lines'
import { type PolicyRecord, parseRecord, type RoomRecord } from '@atrium/sealing/records'
import { WrongKey } from '@atrium/sealing/wrong-key'
import { DamagedRoom, SpaceError } from '../space-error.ts'
import type { RoomHead } from './head.ts'

/**
 * Opens the room's newest policy record with the caller's key. The hash of the line distinguishes a wrong key from a
 * damaged line. Throws SpaceError `client_sealed` for a room whose lines only the clients open.
 */
export function openPolicy(head: RoomHead, key: KeyObject): PolicyRecord {
  if (head.accessKey !== undefined) throw new SpaceError('room_exists', 'client_sealed')
  if (lineHash(head.policyLine) !== head.policyHash) throw new DamagedRoom(head.room, head.policySeq, 'its policy is altered')
  try {
    const record = openRecord(head.room, head.policySeq, head.policyLine, key)
    if (record.t !== 'policy') throw new DamagedRoom(head.room, head.policySeq, 'it is no policy')
    return record
  } catch (error) {
    if (error instanceof WrongKey) throw new SpaceError('not_authorized', 'bad_room_key')
    throw error
  }
}

/** Opens one stored line, which must have the expected number. */
export function openRecord(room: string, seq: number, line: string, key: KeyObject): RoomRecord {
  try {
    const opened = openLine({ key, line })
    if (opened.seq !== seq) throw new DamagedRoom(room, seq, `it says it is line ${opened.seq}`)
    return parseRecord(opened.payload)
  } catch (error) {
    if (error instanceof DamagedLine || error instanceof InvalidRecord) throw new DamagedRoom(room, seq, 'it was altered')
    throw error
  }
}
