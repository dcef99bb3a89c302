import { LINE_SEPARATOR, parseLine } from '@atrium/sealing/line'
import { parseRecord, type PolicyRecord, type RoomRecord, type TurnRecord } from '@atrium/sealing/records'
import type { RoomSecret } from '@atrium/sealing/room-secret'
import { lineHash, openLine } from '@atrium/sealing/web-lines'
import { deriveRoomKey } from '@atrium/sealing/web-room-key'
import { callSpace, type SealedAnswer } from '../api/space-client.ts'

const BATCH = 200
const TIMEOUT_MS = 120_000

/** What the service stores of a room, in its own words: needs no key, and gives none away. */
export function fetchSealed(room: string): Promise<SealedAnswer> {
  return callSpace({ op: 'sealed', room }, { timeoutMs: TIMEOUT_MS })
}

export function linesOf({ sealed }: SealedAnswer): string[] {
  return sealed === '' ? [] : sealed.replace(/\n$/, '').split(LINE_SEPARATOR)
}

export interface OpenedRecord {
  readonly seq: number
  readonly record: RoomRecord
}

/** Opens the lines here, with the key that never left. Rejects at the first that does not open. */
export async function openLines(
  secret: RoomSecret,
  lines: readonly string[],
  onProgress: (opened: number) => void = () => undefined,
): Promise<OpenedRecord[]> {
  const key = await deriveRoomKey(secret)
  const records: OpenedRecord[] = []
  for (let at = 0; at < lines.length; at += BATCH) {
    const opened = await Promise.all(lines.slice(at, at + BATCH).map((line) => openLine({ key, line })))
    for (const { seq, payload } of opened) records.push({ seq, record: parseRecord(payload) })
    onProgress(records.length)
    await nextTask()
  }
  return records
}

/** Hashes of all lines; in batches, so that the page stays alive meanwhile. */
export async function hashLines(lines: readonly string[]): Promise<string[]> {
  const hashes: string[] = []
  for (let at = 0; at < lines.length; at += BATCH) {
    hashes.push(...(await Promise.all(lines.slice(at, at + BATCH).map(lineHash))))
    await nextTask()
  }
  return hashes
}

/** The room's policies, oldest first: its membership log. Opens only the lines that are no messages. */
export async function fetchPolicies(secret: RoomSecret, messageSeqs: ReadonlySet<number>): Promise<PolicyRecord[]> {
  const lines = linesOf(await fetchSealed(secret.room)).filter((line) => !messageSeqs.has(parseLine(line).seq))
  return (await openLines(secret, lines)).flatMap(({ record }) => (record.t === 'policy' ? [record] : []))
}

export function isTurn(opened: OpenedRecord): opened is { seq: number; record: TurnRecord } {
  return opened.record.t === 'turn'
}

function nextTask(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve))
}
