import { assertRoomSecret, type RoomSecret } from '@atrium/sealing/room-secret'
import { type CallOptions, callSpace } from '@atrium/room-client/call-space'
import { followRoom } from '@atrium/room-client/follow-room'
import { randomId } from '@atrium/room-client/new-room-secret'
import type { FollowOptions } from './follow-room.ts'
import { wait as delay, type Wait } from './retry.ts'
import { asAtriumError, type Entry, type RoomIdentity, type RoomPage, type SaidEntry, type SealedRoom } from './room-call.ts'

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
  const { room, mk, spaceUrl, identity, fetch, timeoutMs, retries = 3, wait = delay } = options
  assertRoomSecret({ room, mk })
  const endpoint = { url: spaceUrl, fetch }
  const how = (signal: AbortSignal | undefined, tries = retries): CallOptions => ({
    identity,
    timeoutMs,
    retries: tries,
    wait,
    signal,
  })
  const poll = ({ signal, waitMs = 0, ...from }: PollOptions, tries?: number) =>
    callSpace(endpoint, { op: 'poll', room, mk, ...from, waitMs }, how(signal, tries))
  return {
    room,
    mk,
    poll: (from = {}) => converted(poll(from)),
    // Follows by itself how often to try again.
    follow: (options = {}) =>
      followConverted(followRoom({ poll: (from) => poll({ ...from, signal: options.signal }, 0), wait }, options)),
    say: (text, { replyTo, clientId = randomId(), signal } = {}) => {
      const message = { text, ...(replyTo === undefined ? {} : { reply_to: replyTo }), client_id: clientId }
      return converted(callSpace(endpoint, { op: 'turn', room, mk, message }, how(signal)))
    },
    // The key opens the stored bytes: whoever asks for those has no need to send it.
    sealed: ({ signal } = {}) => converted(callSpace(endpoint, { op: 'sealed', room }, how(signal))),
  }
}

async function converted<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    throw asAtriumError(error)
  }
}

async function* followConverted(entries: AsyncGenerator<Entry, void, undefined>): AsyncGenerator<Entry, void, undefined> {
  try {
    yield* entries
  } catch (error) {
    throw asAtriumError(error)
  }
}
