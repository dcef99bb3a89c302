import { hash } from 'node:crypto'
import { LINE_SEPARATOR } from '@atrium/sealing/line'
import { listLines } from '../rooms/store.ts'
import type { SpaceContext } from '../space-context.ts'
import { SpaceError } from '../space-error.ts'
import type { SealedRequest } from './request.ts'

const maxAtOnce = 3
let running = 0

/** The stored bytes as they are, for whoever asks: without the room key they tell how much was said, and nothing of it. */
export async function sealed(ctx: SpaceContext, { room }: SealedRequest) {
  // A room may have 64 MiB: how many are in memory at once is bounded.
  if (running >= maxAtOnce) throw new SpaceError('unavailable', 'too many large answers at once', 1)
  running++
  try {
    const head = await ctx.heads.add(room)
    if (!head) throw new SpaceError('not_found', 'room')
    const lines = await listLines(ctx.db, room, 0, head.count)
    const text = lines.join(LINE_SEPARATOR)
    return {
      alg: 'A256GCM',
      bytes: Buffer.byteLength(text),
      sha256: hash('sha256', text, 'hex'),
      recipients: recipientsOf(lines),
      sealed: text,
    }
  } finally {
    running--
  }
}

/** Read off the stored lines themselves, whatever stands there. */
function recipientsOf(lines: string[]): string[] {
  const kids = new Set<string>()
  for (const line of lines) {
    for (const recipient of recipientsOfLine(line)) kids.add(recipient.header?.kid ?? 'unnamed')
  }
  return [...kids].sort()
}

function recipientsOfLine(line: string): { header?: { kid?: string } }[] {
  try {
    const { recipients } = JSON.parse(line) as { recipients?: { header?: { kid?: string } }[] }
    return Array.isArray(recipients) ? recipients : [{}]
  } catch {
    return [{}]
  }
}
