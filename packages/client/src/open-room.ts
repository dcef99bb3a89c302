import { assertRoomSecret, type RoomSecret } from '@atrium/sealing/room-secret'
import { followRoom, type FollowOptions } from './follow-room.ts'
import { randomId } from './random-id.ts'
import { wait, type Wait } from './retry.ts'
import {
  callRoom,
  type Entry,
  type RoomAccess,
  type RoomIdentity,
  type RoomPage,
  type SaidEntry,
  type SealedRoom,
} from './room-call.ts'

/** A room may have 64 MiB. */
const sealedExtraMs = 110_000

export interface RoomOptions extends RoomSecret {
  /** The Space endpoint, such as https://api.example/v1/space. */
  spaceUrl: string
  /** Who one is; a function is asked before each request. Absent: anonymous, which open rooms allow. */
  identity?: RoomIdentity | (() => RoomIdentity | undefined | Promise<RoomIdentity | undefined>) | undefined
  /** Another fetch than the platform's. */
  fetch?: typeof globalThis.fetch
  /** Further tries of poll, say and sealed when the service cannot be reached or is busy. Default 3. */
  retries?: number
  /** How long one try may take, beside what a poll is held for. Default 10,000. */
  timeoutMs?: number
  /** How to wait between tries; for tests. */
  wait?: Wait
}

export interface PollOptions {
  /** `etag` of the page before: where the history is another one by now, the answer starts from the beginning. */
  sinceEtag?: string | undefined
  /** `count` of the page before. Default 0. */
  sinceCount?: number | undefined
  /** Holds the answer until something comes, up to 25,000. Default 0. */
  waitMs?: number | undefined
  /** Lines at the most, up to 500, which is the default. */
  limit?: number | undefined
  signal?: AbortSignal | undefined
}

export interface SayOptions {
  /** `id` of the entry that it answers. */
  replyTo?: string | undefined
  /** 1 to 100 characters: a repeat with the same one is stored once. Absent: a fresh one. */
  clientId?: string | undefined
  signal?: AbortSignal | undefined
}

/**
 * A room of the Space service. All methods throw AtriumError: NotAuthorizedError (its `reason` says which check failed), NotFoundError for a
 * room that is not there, RateLimitedError, NetworkError…
 */
export interface Room extends RoomSecret {
  /** The entries from `sinceCount` on, up to `limit` lines of them. */
  poll: (options?: PollOptions) => Promise<RoomPage>
  /**
   * Every entry as it comes, page after page and then by held polls, for as long as it takes: while the service is away it asks again, less
   * and less often. Goes on after a break with `{ after: entry.seq }`. Throws what asking again does not help against, and
   * RewrittenHistoryError.
   */
  follow: (options?: FollowOptions) => AsyncGenerator<Entry, void, undefined>
  /** Writes a message of up to 16 KiB, stored once however often it is tried. Makes an open room where there is none. */
  say: (text: string, options?: SayOptions) => Promise<SaidEntry>
  /** All that is stored, as it is stored: openHistory opens it. Needs no key. */
  sealed: (options?: { signal?: AbortSignal | undefined }) => Promise<SealedRoom>
}

/** A client of one room. Asks nothing yet. Throws TypeError for a malformed room or mk, which it does not quote. */
export function openRoom(options: RoomOptions): Room {
  const { room, mk, spaceUrl, identity, fetch = globalThis.fetch, timeoutMs = 10_000, retries = 3 } = options
  assertRoomSecret({ room, mk })
  const access: RoomAccess = {
    room,
    mk,
    spaceUrl,
    identity: typeof identity === 'function' ? identity : () => identity,
    transport: { fetch, timeoutMs },
    wait: options.wait ?? wait,
  }
  const poll = ({ signal, waitMs = 0, ...from }: PollOptions, tries: number) =>
    callRoom(access, 'poll', { ...from, waitMs }, { retries: tries, extraMs: waitMs, signal })
  return {
    room,
    mk,
    poll: (from = {}) => poll(from, retries),
    // Follows by itself how often to try again.
    follow: (how = {}) => followRoom({ poll: (from) => poll({ ...from, signal: how.signal }, 0), wait: access.wait }, how),
    say: (text, { replyTo, clientId = randomId(), signal } = {}) => {
      const message = { text, ...(replyTo === undefined ? {} : { reply_to: replyTo }), client_id: clientId }
      return callRoom(access, 'turn', { message }, { retries, signal })
    },
    sealed: ({ signal } = {}) => callRoom(access, 'sealed', {}, { retries, extraMs: sealedExtraMs, signal }),
  }
}
