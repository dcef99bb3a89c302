import type { RoomPage } from '@atrium/room-client/space-ops'
import type { Chunk } from './chunks.ts'
import type { Pending } from './outbox.ts'
import type { Retracted } from './retraction.ts'

/** Where a history ends: the number of its lines, and the hash that commits to all of them. */
export interface Head {
  readonly count: number
  readonly etag: string
}

export interface RoomState {
  /** opening: nothing known yet. refused, missing, removed: nothing to be shown. */
  readonly phase: 'opening' | 'open' | 'refused' | 'missing' | 'removed'
  /** Why it is refused; in an open room, why it has stopped: the sign-in has run out. */
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
  /** The history is shorter than it was: the service has forgotten, or hides, something. */
  readonly shrank: boolean
  /** Last line that had been read when the room was opened. */
  readonly readTo: number | undefined
  /** What could not be kept on this device is lost with the page. */
  readonly unkept: boolean
}

export const OPENING: RoomState = {
  phase: 'opening',
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
  unkept: false,
}
