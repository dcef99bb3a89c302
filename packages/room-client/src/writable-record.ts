import { readCard } from './room-device.ts'
import { readToken } from './signed-line.ts'
import { findTurn, NOT_WRITABLE } from './turn.ts'

/** Rejects with TypeError unless every reader accepts the record in a room with a list. */
export async function assertWritable(record: object, room: string): Promise<void> {
  const fields = record as Readonly<Record<string, unknown>>
  const { t, card } = fields
  if (t === 'turn') return assertForm(findTurn(record))
  if (t === 'identity') return assertForm(readToken(fields))
  assertForm((await readCard(card, room)) && (!('id_token' in record) || readToken(fields)))
}

function assertForm(found: unknown): void {
  if (!found) throw new TypeError(NOT_WRITABLE)
}
