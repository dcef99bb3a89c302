import { LineReader } from '@atrium/room-client/line-reader'
import { deriveClientKeys } from '@atrium/sealing/client-sealed'
import type { RoomSecret } from '@atrium/sealing/room-secret'
import type { RoomSession } from '../room/room-session.ts'
import type { RoomLink } from '../room-link.ts'
import type { Listed } from './check-listed.ts'
import { fetchSealed, hashLines, isTurn, linesOf, openLines } from './sealed-history.ts'

/** The room in plain text, opened on this device from what is stored. */
export async function exportPlain({ secret: link, listed }: Pick<RoomSession, 'secret' | 'listed'>): Promise<Blob> {
  const answer = await fetchSealed(link.room)
  const lines = linesOf(answer)
  const history = listed
    ? { entries: await entriesOfListed({ link, device: listed.own.device, answer }) }
    : await (link.kind === 'classic' ? openClassic(link, lines) : openClientSealed(link, lines))
  const content = { room: link.room, exported_at: new Date().toISOString(), ...history }
  return new Blob([JSON.stringify(content, null, 2)], { type: 'application/json' })
}

/** Its code is not part of the first view. */
async function entriesOfListed(listed: Listed) {
  const { openListed } = await import('./check-listed.ts')
  return (await openListed(listed)).entries
}

async function openClientSealed(link: RoomLink, lines: string[]) {
  const etag = (await hashLines(lines)).at(-1) ?? ''
  const entries = await new LineReader(await deriveClientKeys(link)).take({ lines, count: lines.length, etag })
  return { policies: [{ seq: 0, policy: 'open' }], entries }
}

async function openClassic(secret: RoomSecret, lines: readonly string[]) {
  const records = await openLines(secret, lines)
  return {
    policies: records.flatMap(({ seq, record }) => (record.t === 'policy' ? [{ seq, ...record, t: undefined }] : [])),
    entries: records.filter(isTurn).map(({ seq, record: { id, at, author, message } }) => ({ seq, id, at, author, message })),
  }
}

/** The stored bytes, unchanged. Any JOSE tool opens each line with the room's key. */
export async function exportSealed({ room }: RoomSecret): Promise<Blob> {
  return new Blob([(await fetchSealed(room)).sealed], { type: 'application/jose+json' })
}

export function download(blob: Blob, fileName: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = fileName
  link.click()
  // The browser reads the address after this function returns. A minute is more than it needs.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
