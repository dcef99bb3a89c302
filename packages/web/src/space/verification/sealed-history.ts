import { openRecords } from '@atrium/room-client/room-history'
import type { SealedRoom } from '@atrium/room-client/space-ops'
import { LINE_SEPARATOR, parseLine } from '@atrium/sealing/line'
import type { PolicyRecord, RoomRecord, TurnRecord } from '@atrium/sealing/records'
import type { RoomSecret } from '@atrium/sealing/room-secret'
import { lineHash } from '@atrium/sealing/web-lines'
import { callSpace } from '../api/space-client.ts'

const BATCH = 200

/** Fetches what the service stores of a room. The request contains no key. */
export function fetchSealed(room: string): Promise<SealedRoom> {
  return callSpace({ op: 'sealed', room })
}

export function linesOf({ sealed }: SealedRoom): string[] {
  return sealed === '' ? [] : sealed.replace(/\n$/, '').split(LINE_SEPARATOR)
}

export interface OpenedRecord {
  readonly seq: number
  readonly record: RoomRecord
}

/** Opens the lines on this device, without sending the key. Rejects at the first line that does not open. */
export async function openLines(
  secret: RoomSecret,
  lines: readonly string[],
  onProgress: (opened: number) => void = () => undefined,
): Promise<OpenedRecord[]> {
  const records = await openRecords(secret, lines, async (opened) => {
    onProgress(opened)
    await nextTask()
  })
  return records.map((record, i) => ({ seq: parseLine(lines[i] ?? '').seq, record }))
}

/** Hashes all lines in batches, so that the page stays responsive. */
export async function hashLines(lines: readonly string[]): Promise<string[]> {
  const hashes: string[] = []
  for (let at = 0; at < lines.length; at += BATCH) {
    hashes.push(...(await Promise.all(lines.slice(at, at + BATCH).map(lineHash))))
    await nextTask()
  }
  return hashes
}

/**
 * The policies of the room, oldest first, which are its membership log. Opens only the lines that are not messages.
 */
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
