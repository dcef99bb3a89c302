import type { RoomSecret } from '@atrium/sealing/room-secret'
import { fetchSealed, isTurn, linesOf, openLines } from './sealed-history.ts'

/** The room in plain text, opened on this device from what is stored. */
export async function exportPlain(secret: RoomSecret): Promise<Blob> {
  const records = await openLines(secret, linesOf(await fetchSealed(secret.room)))
  const content = {
    room: secret.room,
    exported_at: new Date().toISOString(),
    policies: records.flatMap(({ seq, record }) => (record.t === 'policy' ? [{ seq, ...record, t: undefined }] : [])),
    entries: records.filter(isTurn).map(({ seq, record: { id, at, author, message } }) => ({ seq, id, at, author, message })),
  }
  return new Blob([JSON.stringify(content, null, 2)], { type: 'application/json' })
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
