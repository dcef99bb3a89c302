import { createHash } from 'node:crypto'
import type { LogEntry } from '#features/transparency-log/entries.ts'

/** What the log keeps of an agent. Without the salt nobody can tell which agent it was, not even by trying cards. */
export function cardEntry(card: string, salt: string): LogEntry {
  return { type: 'agent_card', sha256: createHash('sha256').update(salt).update(card).digest('hex') }
}
