import { DamagedLine } from '@atrium/sealing/damaged-line'
import { InvalidRecord } from '@atrium/sealing/invalid-record'
import { LINE_SEPARATOR } from '@atrium/sealing/line'
import { formatRecord, parseRecord, type PolicyRecord, type RoomRecord } from '@atrium/sealing/records'
import { assertRoomSecret, type RoomSecret } from '@atrium/sealing/room-secret'
import { checkChain, lineHash, openedInOrder, openLine, sealLine } from '@atrium/sealing/web-lines'
import { deriveRoomKey } from '@atrium/sealing/web-room-key'
import { WrongKey } from '@atrium/sealing/wrong-key'
import { sha256Hex } from './identity.ts'
import type { Entry, SealedRoom } from './space-ops.ts'

const linesAtOnce = 200

export interface RoomHistory {
  /**
   * Every line, in order: `{t: 'policy', …}` or `{t: 'turn', …}`. The policies together are the room's membership log.
   */
  records: RoomRecord[]
  /** The messages, in the form of `poll`. */
  entries: Entry[]
  /** The current policy. */
  policy: PolicyRecord
  /** SHA-256 of the last line, base64url. It equals the etag of a poll if the history is complete. */
  etag: string
}

/** The history is inconsistent. */
export class DamagedHistoryError extends Error {
  override readonly name = 'DamagedHistoryError'
  /** Index of the first invalid line; undefined if no single line is at fault. */
  readonly seq: number | undefined

  constructor(problem: string, seq?: number) {
    super(seq === undefined ? problem : `line ${seq}: ${problem}`)
    this.seq = seq
  }
}

/**
 * Opens the answer of `sealed` locally with the room key, which the operator does not have. Each line is a JWE (RFC
 * 7516: A256GCM, its key wrapped by A256KW) under the key that HKDF-SHA-256 (RFC 5869) derives from mk, and contains
 * the hash of the previous line.
 *
 * Throws DamagedHistoryError at the first line that was altered, moved, removed, or has another recipient than the
 * room; WrongKey if mk is not the key of this room; TypeError if mk is malformed. A missing end is detected only by
 * comparing `etag` with one from another source: a poll, or another member of the room.
 *
 * @example
 * const { etag } = await room.poll()
 * const history = await openHistory(secret, await room.sealed(), etag)
 * console.log(history.entries.length)
 */
export async function openHistory(secret: RoomSecret, { sealed, sha256 }: SealedRoom, etag?: string): Promise<RoomHistory> {
  assertRoomSecret(secret)
  if ((await sha256Hex(sealed)) !== sha256) throw new DamagedHistoryError('the text is not what its hash says')
  const lines = sealed.split(LINE_SEPARATOR)
  const broken = await checkChain(lines, { fromSeq: 0, etag })
  if (broken) throw new DamagedHistoryError(`the chain breaks (${broken.problem})`, broken.seq)
  const records = await openRecords(secret, lines)
  const policy = records.findLast((record) => record.t === 'policy')
  const last = lines.at(-1)
  if (!policy || last === undefined) throw new DamagedHistoryError('there is no policy', 0)
  return { records, entries: entriesOf(records), policy, etag: await lineHash(last) }
}

/**
 * Opens the lines with the room key in batches; `afterBatch` receives the number of opened lines. Throws WrongKey, or
 * DamagedHistoryError with the index of the line. It does not detect missing lines; checkChain does.
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
    records.push(...(await openedInOrder(batch.map((line, i) => openRecord(key, line, records.length + i)))))
    await afterBatch(records.length)
  }
  return records
}

/**
 * The inverse: seals records, of which the first is a policy, in the form in which a room stores them. Throws
 * InvalidRecord, TypeError.
 */
export async function sealHistory(secret: RoomSecret, records: readonly RoomRecord[]): Promise<SealedRoom> {
  const key = await deriveRoomKey(secret)
  const lines: string[] = []
  for (const [seq, record] of records.entries()) {
    const last = lines.at(-1)
    const prev = last === undefined ? undefined : await lineHash(last)
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
    // The line was altered, or sealed with the right key in an invalid form.
    if (cause instanceof DamagedLine || cause instanceof InvalidRecord) throw new DamagedHistoryError(cause.message, seq)
    // The key opened the first line, so it is the key of the room, and not the one of this line.
    if (cause instanceof WrongKey && seq > 0) throw new DamagedHistoryError(cause.message, seq)
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
