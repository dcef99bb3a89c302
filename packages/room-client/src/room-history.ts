import { DamagedLine } from '@atrium/sealing/damaged-line'
import { InvalidRecord } from '@atrium/sealing/invalid-record'
import { LINE_SEPARATOR } from '@atrium/sealing/line'
import { formatRecord, parseRecord, type PolicyRecord, type RoomRecord } from '@atrium/sealing/records'
import { assertRoomSecret, type RoomSecret } from '@atrium/sealing/room-secret'
import { checkChain, lineHash, openLine, sealLine } from '@atrium/sealing/web-lines'
import { deriveRoomKey } from '@atrium/sealing/web-room-key'
import { sha256Hex } from './identity.ts'
import type { Entry, SealedRoom } from './space-ops.ts'

const linesAtOnce = 200

export interface RoomHistory {
  /** Every line, in order: `{t: 'policy', …}` or `{t: 'turn', …}`. The policies together are the room's membership log. */
  records: RoomRecord[]
  /** What was said, as `poll` gives it. */
  entries: Entry[]
  /** The policy that holds. */
  policy: PolicyRecord
  /** SHA-256 of the last line, base64url: that of a poll, when this is the whole history. */
  etag: string
}

/** The history does not hold together. */
export class DamagedHistoryError extends Error {
  override readonly name = 'DamagedHistoryError'
  /** The first line that is wrong; undefined where it is none of them. */
  readonly seq: number | undefined

  constructor(problem: string, seq?: number) {
    super(seq === undefined ? problem : `line ${seq}: ${problem}`)
    this.seq = seq
  }
}

/**
 * Opens the answer of `sealed` with the room key, here: what the operator stores and cannot read. Each line is a JWE (RFC 7516: A256GCM, its
 * key wrapped by A256KW) under the key that HKDF-SHA-256 (RFC 5869) derives from mk, and bears the hash of the line before it.
 *
 * Throws DamagedHistoryError at the first line that was altered, moved, taken out, or could be read by others than the room; WrongKey where
 * mk is not this room's; TypeError where it cannot be one. That none is missing at the end, only an `etag` shows that was learnt elsewhere:
 * by a poll, or from someone else in the room.
 */
export async function openHistory(secret: RoomSecret, { sealed, sha256 }: SealedRoom, etag?: string): Promise<RoomHistory> {
  assertRoomSecret(secret)
  if ((await sha256Hex(sealed)) !== sha256) throw new DamagedHistoryError('the text is not what its hash says')
  const lines = sealed.split(LINE_SEPARATOR)
  const broken = await checkChain(lines, { fromSeq: 0, etag })
  if (broken) throw new DamagedHistoryError(`the chain breaks (${broken.problem})`, broken.seq)
  const records = await openRecords(secret, lines)
  const policy = records.findLast((record) => record.t === 'policy')
  if (!policy) throw new DamagedHistoryError('there is no policy', 0)
  return { records, entries: entriesOf(records), policy, etag: await lineHash(lines.at(-1)!) }
}

/**
 * What the lines say, opened with the room key, some at a time; `afterBatch` is told how many are. Throws WrongKey, or DamagedHistoryError with
 * the index of the line. Whether lines are missing, only their chain shows.
 */
export async function openRecords(
  secret: RoomSecret,
  lines: readonly string[],
  afterBatch: (opened: number) => void | Promise<void> = () => undefined,
): Promise<RoomRecord[]> {
  const key = await deriveRoomKey(secret)
  const records: RoomRecord[] = []
  while (records.length < lines.length) {
    const batch = lines.slice(records.length, records.length + linesAtOnce)
    records.push(...(await Promise.all(batch.map((line, i) => openRecord(key, line, records.length + i)))))
    await afterBatch(records.length)
  }
  return records
}

/** The other way round: seals records, the first of them a policy, as the room stores them. Throws InvalidRecord, TypeError. */
export async function sealHistory(secret: RoomSecret, records: readonly RoomRecord[]): Promise<SealedRoom> {
  const key = await deriveRoomKey(secret)
  const lines: string[] = []
  for (const [seq, record] of records.entries()) {
    const prev = seq === 0 ? undefined : await lineHash(lines.at(-1)!)
    lines.push(await sealLine({ key, seq, prev, payload: formatRecord(record) }))
  }
  const sealed = lines.join(LINE_SEPARATOR)
  const bytes = new TextEncoder().encode(sealed).length
  return { alg: 'A256GCM', bytes, sha256: await sha256Hex(sealed), recipients: ['room'], sealed }
}

type RoomKey = Awaited<ReturnType<typeof deriveRoomKey>>

async function openRecord(key: RoomKey, line: string, seq: number): Promise<RoomRecord> {
  try {
    return parseRecord((await openLine({ key, line })).payload)
  } catch (cause) {
    // Altered, or sealed by someone who holds the key and does not keep to the form.
    if (cause instanceof DamagedLine || cause instanceof InvalidRecord) throw new DamagedHistoryError(cause.message, seq)
    throw cause
  }
}

function entriesOf(records: readonly RoomRecord[]): Entry[] {
  return records.flatMap((record, seq) => {
    if (record.t !== 'turn') return []
    const { id, at, author, message } = record
    return [{ seq, id, at, author, message }]
  })
}
