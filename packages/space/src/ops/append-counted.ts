import type { KeyObject } from 'node:crypto'
import { sealLine } from '@atrium/sealing/node-lines'
import { formatRecord, type RoomRecord } from '@atrium/sealing/records'
import type { Append, AppendOutcome } from '../rooms/plan-lines.ts'
import type { Caller, SpaceContext } from '../space-context.ts'

/** How often a line is authorised again because the list changed meanwhile. */
export const maxTries = 10
/** The size of a line besides its record: the other parts of the JWE. */
const lineFrameBytes = 400

/** Seals a record with the caller's key, and appends it: see `appendCounted`. */
export function appendRecord(
  ctx: SpaceContext,
  caller: Caller,
  { key, record, head, dedupe }: Pick<Append, 'head' | 'dedupe'> & { key: KeyObject; record: RoomRecord },
): Promise<AppendOutcome> {
  const payload = formatRecord(record)
  const bytes = lineFrameBytes + Math.ceil((Buffer.byteLength(payload) * 4) / 3)
  const seal: Append['seal'] = (position) => sealLine({ key, ...position, payload })
  return appendCounted(ctx, caller, bytes, { head, seal, isPolicy: record.t === 'policy', dedupe })
}

/**
 * Appends a line of about this many bytes and counts them for the caller; nothing is counted if nothing is written.
 * Throws SpaceError if the caller may write no more today.
 */
export async function appendCounted(
  { use, writer }: SpaceContext,
  { key }: Caller,
  bytes: number,
  append: Append,
): Promise<AppendOutcome> {
  const takeBack = use.write(key, bytes)
  let outcome
  try {
    outcome = await writer.append(append)
  } finally {
    if (outcome?.kind !== 'written') takeBack()
  }
  return outcome
}
