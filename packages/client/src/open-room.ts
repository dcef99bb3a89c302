import { assertRoomSecret, type RoomSecret } from '@atrium/sealing/room-secret'
import { type CallOptions, callSpace } from '@atrium/room-client/call-space'
import { followRoom } from '@atrium/room-client/follow-room'
import { randomId } from '@atrium/room-client/new-room-secret'
import type { FollowOptions } from './follow-room.ts'
import { wait as delay, type Wait } from './retry.ts'
import {
  asAtriumError,
  converted,
  endpointAt,
  type Entry,
  type RoomIdentity,
  type RoomPage,
  type SaidEntry,
  type SealedRoom,
} from './room-call.ts'

export type { Entry, RoomPage, SaidEntry }

export interface RoomOptions extends RoomSecret {
  /** The Space endpoint, such as https://api.example/v1/space. */
  spaceUrl: string
  /**
   * The identity of the caller; a function is called before each request. Absent: anonymous, which open rooms allow.
   */
  identity?: RoomIdentity | (() => RoomIdentity | undefined | Promise<RoomIdentity | undefined>) | undefined
  /** A replacement for the global fetch. */
  fetch?: typeof globalThis.fetch
  /** The number of retries of poll, say and sealed when the service cannot be reached or is overloaded. Default 3. */
  retries?: number
  /** The time limit of one attempt in milliseconds, in addition to `waitMs`. Default 10,000. */
  timeoutMs?: number
  /** Waits between attempts; for tests. */
  wait?: Wait
}

export interface PollOptions {
  /** `etag` of the previous page. If the history has been replaced since, the answer starts from the beginning. */
  sinceEtag?: string | undefined
  /** `count` of the previous page. Default 0. */
  sinceCount?: number | undefined
  /** Milliseconds to wait for new lines (long polling), up to 25,000. Default 0. */
  waitMs?: number | undefined
  /** The largest number of lines, up to 500. Default 500. */
  limit?: number | undefined
  signal?: AbortSignal | undefined
}

export interface SayOptions {
  /** `id` of the entry that the message replies to. */
  replyTo?: string | undefined
  /** 1 to 100 characters. A repeat with the same value is stored once. Absent: a new random one. */
  clientId?: string | undefined
  signal?: AbortSignal | undefined
}

/**
 * A room of the Space service. All methods throw AtriumError: NotAuthorizedError (`reason` names the failed check),
 * NotFoundError for a room that does not exist, RateLimitedError, NetworkError…
 */
export interface Room extends RoomSecret {
  /** The entries from `sinceCount` on, up to `limit` lines of them. */
  poll: (options?: PollOptions) => Promise<RoomPage>
  /**
   * Yields every entry as it arrives: first the history page by page, then new entries by long polling. While the
   * service is unavailable it retries with growing delays. To resume, pass `{ after: entry.seq }`. Throws
   * RewrittenHistoryError, and errors that a retry cannot resolve.
   */
  follow: (options?: FollowOptions) => AsyncGenerator<Entry, void, undefined>
  /** Writes a message of up to 16 KiB. Retries store it only once. Creates an open room if none exists. */
  say: (text: string, options?: SayOptions) => Promise<SaidEntry>
  /** Reads the sealed history as it is stored, without the room key. openHistory opens it. */
  sealed: (options?: { signal?: AbortSignal | undefined }) => Promise<SealedRoom>
}

/**
 * Makes a client of one room, without a request. Throws TypeError for a malformed room, mk or address; the message
 * contains neither room nor mk.
 *
 * @example
 * const room = openRoom({ spaceUrl: 'https://api.example/v1/space', ...newRoomSecret() })
 * await room.say('Are the lamps lit?')
 * for await (const { seq, message } of room.follow()) console.log(seq, message.text)
 */
export function openRoom(options: RoomOptions): Room {
  const { room, mk, spaceUrl, identity, fetch, timeoutMs, retries = 3, wait = delay } = options
  assertRoomSecret({ room, mk })
  const endpoint = endpointAt(spaceUrl, fetch)
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
    // `follow` has its own retries.
    follow: (options = {}) =>
      followConverted(followRoom({ poll: (from) => poll({ ...from, signal: options.signal }, 0), wait }, options)),
    say: (text, { replyTo, clientId = randomId(), signal } = {}) => {
      const message = { text, ...(replyTo === undefined ? {} : { reply_to: replyTo }), client_id: clientId }
      return converted(callSpace(endpoint, { op: 'turn', room, mk, message }, how(signal)))
    },
    // The request omits the room key, because reading sealed bytes does not need it.
    sealed: ({ signal } = {}) => converted(callSpace(endpoint, { op: 'sealed', room }, how(signal))),
  }
}

async function* followConverted(entries: AsyncGenerator<Entry, void, undefined>): AsyncGenerator<Entry, void, undefined> {
  try {
    yield* entries
  } catch (error) {
    throw asAtriumError(error)
  }
}
