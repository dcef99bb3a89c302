import { LineReader } from '@atrium/room-client/line-reader'
import type { Entry } from '@atrium/room-client/space-ops'
import { DamagedHistoryError } from '@atrium/room-client/room-history'
import { TamperedRoomError } from '@atrium/room-client/tampered-room-error'
import { findBreak } from '@atrium/sealing/chain'
import { deriveClientKeys } from '@atrium/sealing/client-sealed'
import type { RoomSecret } from '@atrium/sealing/room-secret'
import type { RoomSession } from '../room/room-session.ts'
import type { RoomLink } from '../room-link.ts'
import type { Listed } from './check-listed.ts'
import { fetchSealed, hashLines, isTurn, linesOf, type OpenedRecord, openLines } from './sealed-history.ts'

interface History {
  readonly policies?: readonly object[]
  readonly entries: readonly Entry[]
  readonly damage?: TamperedRoomError
}

export interface Exported {
  readonly blob: Blob
  /** Where the room is not what its authors wrote: the file has what came before that line. */
  readonly damage?: TamperedRoomError
}

/** The room in plain text, opened on this device from what is stored. */
export async function exportPlain({ secret: link, listed }: Pick<RoomSession, 'secret' | 'listed'>): Promise<Exported> {
  const answer = await fetchSealed(link.room)
  const lines = linesOf(answer)
  const { damage, ...history } = listed
    ? await beforeDamage(entriesOfListed({ link, device: listed.own.device, answer }))
    : await (link.kind === 'classic' ? openClassic(link, lines) : openClientSealed(link, lines))
  const content = {
    room: link.room,
    exported_at: new Date().toISOString(),
    ...history,
    ...(damage && { ends_before: { seq: damage.seq, problem: damage.problem } }),
  }
  return { blob: new Blob([JSON.stringify(content, null, 2)], { type: 'application/json' }), ...(damage && { damage }) }
}

async function beforeDamage(reading: Promise<readonly Entry[]>): Promise<History> {
  try {
    return { entries: await reading }
  } catch (error) {
    if (!(error instanceof TamperedRoomError)) throw error
    return { entries: error.entries, damage: error }
  }
}

/** Its code is not part of the first view. */
async function entriesOfListed(listed: Listed) {
  const { openListed } = await import('./check-listed.ts')
  return (await openListed(listed)).entries
}

async function openClientSealed(link: RoomLink, lines: string[]): Promise<History> {
  const etag = (await hashLines(lines)).at(-1) ?? ''
  const reader = new LineReader(await deriveClientKeys(link))
  const history = await beforeDamage(reader.take({ lines, count: lines.length, etag }))
  return { policies: [{ seq: 0, policy: 'open' }], ...history }
}

async function openClassic(secret: RoomSecret, lines: readonly string[]): Promise<History> {
  const { records, damage } = await openInOrder(secret, lines)
  return {
    policies: records.flatMap(({ seq, record }) => (record.t === 'policy' ? [{ seq, ...record, t: undefined }] : [])),
    entries: records.filter(isTurn).map(({ seq, record: { id, at, author, message } }) => ({ seq, id, at, author, message })),
    ...(damage && { damage }),
  }
}

const chainProblems = { form: 'form', seq: 'number', prev: 'chain', etag: 'end' } as const

/** The lines before the first that does not continue the chain or does not open. */
async function openInOrder(
  secret: RoomSecret,
  lines: readonly string[],
): Promise<{ records: OpenedRecord[]; damage?: TamperedRoomError }> {
  const broken = findBreak(lines, await hashLines(lines), { fromSeq: 0 })
  const chained = lines.slice(0, broken?.seq)
  try {
    const records = await openLines(secret, chained)
    return broken ? { records, damage: new TamperedRoomError(chainProblems[broken.problem], broken.seq) } : { records }
  } catch (error) {
    if (!(error instanceof DamagedHistoryError) || error.seq === undefined) throw error
    const records = await openLines(secret, chained.slice(0, error.seq))
    return { records, damage: new TamperedRoomError('sealed', error.seq) }
  }
}

/** The stored bytes, unchanged. Any JOSE tool opens each line with the room's key. */
export async function exportSealed({ room }: RoomSecret): Promise<Exported> {
  return { blob: new Blob([(await fetchSealed(room)).sealed], { type: 'application/jose+json' }) }
}

export function download(blob: Blob, fileName: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = fileName
  link.click()
  // The browser reads the address after this function returns. A minute is more than it needs.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
