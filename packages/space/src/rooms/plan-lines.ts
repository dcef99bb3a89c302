import type { Position } from '@atrium/sealing/line'
import { lineHash } from '@atrium/sealing/node-lines'
import { SpaceError } from '../space-error.ts'
import { policyLimits, roomLimits, type RoomHead } from './head.ts'
import type { Growth, NewLine } from './store.ts'

/** A line to append, which was authorised under the policy of `head`. */
export interface Append {
  head: RoomHead
  /** Makes the line for this place in the chain. */
  seal: (position: Position) => string
  /** Whether the line is the room's new policy. */
  isPolicy: boolean
  /** A value that is the same for a repeat; undefined: never a repeat. */
  dedupe: string | undefined
}

/** written: at `seq`. repeated: written before, at `seq`. policy_changed: must be authorised again first. */
export type AppendOutcome = { kind: 'written' | 'repeated'; seq: number; head: RoomHead } | { kind: 'policy_changed' }

/** A line that waits to be written. */
export interface Waiting extends Append {
  tries: number
  untilMs: number
  resolve: (outcome: AppendOutcome) => void
  reject: (error: unknown) => void
}

/** What a batch appends to one room, and what it answers for each line. */
interface Plan extends Growth {
  written: { waiting: Waiting; kind: 'written' | 'repeated'; seq: number }[]
}

/**
 * Seals the waiting lines of a room behind its last line. A line that cannot be appended is answered at once, and leaves
 * the queue: its caller may send it again, so another attempt with this queue would store it twice.
 */
export function planLines(queue: Waiting[], from: RoomHead | undefined): Plan[] {
  if (!from) {
    for (const waiting of queue.splice(0)) waiting.reject(new SpaceError('not_found', 'room'))
    return []
  }
  let to = from
  const lines: NewLine[] = []
  const written: Plan['written'] = []
  const first = new Map<string, number>()
  for (const waiting of queue) {
    const earlier = waiting.dedupe === undefined ? undefined : first.get(waiting.dedupe)
    if (waiting.head.policyHash !== to.policyHash) {
      waiting.resolve({ kind: 'policy_changed' })
    } else if (earlier !== undefined) {
      // A repeat in the same batch: the first one counts.
      written.push({ waiting, kind: 'repeated', seq: earlier })
    } else {
      const grown = grow(to, waiting)
      if (!grown) {
        waiting.reject(new SpaceError('payload_too_large', 'the room is full'))
        continue
      }
      if (waiting.dedupe !== undefined) first.set(waiting.dedupe, to.count)
      lines.push({ seq: to.count, line: grown.line, dedupe: waiting.dedupe ?? null })
      written.push({ waiting, kind: 'written', seq: to.count })
      to = grown.head
    }
  }
  queue.splice(0, queue.length, ...written.map(({ waiting }) => waiting))
  return [{ from, to, lines, written }]
}

function grow(head: RoomHead, { seal, isPolicy }: Append): { head: RoomHead; line: string } | undefined {
  const line = seal({ seq: head.count, prev: head.etag })
  const bytes = head.bytes + line.length + 1
  const limits = isPolicy ? policyLimits : roomLimits
  if (head.count >= limits.lines || bytes > limits.bytes) return undefined
  const etag = lineHash(line)
  const policy = isPolicy ? { policySeq: head.count, policyHash: etag, policyLine: line } : {}
  return { line, head: { ...head, count: head.count + 1, etag, bytes, ...policy } }
}
