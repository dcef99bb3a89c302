import type { FoundFarewell } from '@atrium/room-client/line-reader'
import type { RoomPage } from '@atrium/room-client/space-ops'
import type { Chunk } from './chunks.ts'
import type { Pending } from './outbox.ts'
import type { Retracted } from './retraction.ts'

/** The end of a history: the number of its lines, and the hash that commits to all of them. */
export interface Head {
  readonly count: number
  readonly etag: string
}

export interface RoomState {
  /** opening: nothing is known yet. refused, missing, removed: there is nothing to show. tampered: the history is not
   * what its authors wrote; what was shown before stays. */
  readonly phase: 'opening' | 'open' | 'refused' | 'missing' | 'removed' | 'tampered'
  /** Messages that were read while the room opens. */
  readonly opened: number
  /** Why access is refused. In a tampered room: what is wrong, a TamperedRoomError. In an open room: why reading stopped, because the sign-in has expired. */
  readonly failure: unknown
  /**
   * offline: the browser has no network. away: the service does not answer. troubled: the service answers with an
   * error.
   */
  readonly link: 'online' | 'offline' | 'away' | 'troubled'
  readonly policy: RoomPage['policy'] | undefined
  readonly title: string | undefined
  readonly chunks: readonly Chunk[]
  /** What was taken back, by the id of the entry. */
  readonly retracted: ReadonlyMap<string, Retracted>
  /** Messages before the first shown that have not been fetched. */
  readonly hasEarlier: boolean
  readonly loadingEarlier: boolean
  readonly pending: readonly Pending[]
  /** The end of the history according to the service. */
  readonly head: Head | undefined
  /** The history is shorter than before: the service has lost or is hiding lines. */
  readonly shrank: boolean
  /** The last line that had been read when the room was opened. */
  readonly readTo: number | undefined
  /** Somebody has written that the members of this client-sealed room go on in another one. Nothing more is written here. */
  readonly farewell: FoundFarewell | undefined
  /** Data that could not be stored on this device and is lost with the page. */
  readonly unkept: boolean
}

export const OPENING: RoomState = {
  phase: 'opening',
  opened: 0,
  failure: undefined,
  link: 'online',
  policy: undefined,
  title: undefined,
  chunks: [],
  retracted: new Map(),
  hasEarlier: false,
  loadingEarlier: false,
  pending: [],
  head: undefined,
  shrank: false,
  readTo: undefined,
  farewell: undefined,
  unkept: false,
}
