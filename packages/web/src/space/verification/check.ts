import { SpaceCallError } from '@atrium/room-client/space-call-error'
import { TamperedRoomError } from '@atrium/room-client/tampered-room-error'
import type { Entry } from '@atrium/room-client/space-ops'
import { failureWords } from '../api/failure-words.ts'
import type { Head } from '../room/room-state.ts'
import type { RoomLink } from '../room-link.ts'
import { t } from '../text/text.ts'

/**
 * proved: this browser has shown it. trusted: it must be believed. failed: it is wrong. unknown: it could not be
 * checked.
 */
export type Verdict = 'proved' | 'trusted' | 'failed' | 'unknown'

export interface Check {
  readonly id: string
  readonly verdict: Verdict
  readonly title: string
  readonly text: string
}

/** What this browser has seen of the room. */
export interface SeenHistory {
  /** The end of the history, now and on the previous visit. */
  readonly heads: readonly Head[]
  readonly entries: readonly Entry[]
}

export type Report = (check: Check) => void

/** Why the room could not be read anew. Only what a reader found wrong is a fault of the room. */
export function unreadable(error: unknown): Check {
  const isTampered = error instanceof TamperedRoomError
  const { title, text } = isTampered || error instanceof SpaceCallError ? failureWords(error) : t.failures.unknown
  return { id: 'chain', verdict: isTampered ? 'failed' : 'unknown', title, text }
}

/** Statements that no browser can check remotely. There is one more after an agent has been in the room. */
/** Of a client-sealed room: that this page keeps the key, instead of that the service forgets it. */
export function believed({ kind, hasAgents }: { kind: RoomLink['kind']; hasAgents: boolean }): readonly Check[] {
  const ids = ['running', kind === 'classic' ? 'memory' : 'key', 'page', ...(hasAgents ? (['agents'] as const) : [])] as const
  return ids.map((id) => ({ id, verdict: 'trusted', ...t.protection[id] }))
}
