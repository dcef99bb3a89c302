import { turnRecord } from '@atrium/room-client/line-reader'
import { deriveClientKeys, sealClientLine, type Seen } from '@atrium/sealing/client-sealed'
import { lineHash } from '@atrium/sealing/node-lines'
import type { RoomSecret } from '@atrium/sealing/room-secret'
import { placeLine } from '@atrium/sealing/signed-request'
import { writingsOf } from './writings.ts'

/** The lines of `count` messages as clients seal them, to follow the policy of an open client-sealed room. */
export async function sealWritings(secret: RoomSecret, policyHash: string, count: number): Promise<string[]> {
  const keys = await deriveClientKeys(secret)
  const lines: string[] = []
  let seen: Seen = { seq: 0, hash: policyHash }
  for (const { id, message } of writingsOf(count)) {
    const name = `Guest ${id.charCodeAt(0) % 8}`
    const line = await sealClientLine(keys, { seen, content: turnRecord({ id, name, text: message.text }) })
    lines.push(line)
    seen = { seq: seen.seq + 1, hash: lineHash(placeLine(line, { seq: seen.seq + 1, prev: seen.hash })) }
  }
  return lines
}
