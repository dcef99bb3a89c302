import { delayMs, isTransient, type Wait } from './retry.ts'
import { SpaceCallError } from './space-call-error.ts'
import type { Entry, RoomPage } from './space-ops.ts'

/** The long-poll time that is requested from the server. */
const holdMs = 25_000
export const pageLines = 500
/** An empty answer that arrives sooner than this was not a long poll. */
const idleMs = 1_000

/** The start of a poll: the position from the previous answer. */
export interface Since {
  readonly sinceCount: number
  readonly sinceEtag: string
}

/** A position beyond the end of every room: such a poll returns no entries, only the end. */
export const pastTheEnd: Since = { sinceCount: Number.MAX_SAFE_INTEGER, sinceEtag: '' }

export type Poll = (from: Since & { waitMs: number; limit: number }) => Promise<RoomPage>

interface PagesOptions {
  since: Since
  /** Waits for a room that does not exist because it has no message yet. Default: false, which throws. */
  waitForRoom?: boolean | undefined
  /** Whether the next poll may wait. Default: always. */
  mayHold?: (since: Since) => boolean
  /**
   * Pauses if the poll did not wait: the service answers at once for a missing room, and when too many polls are
   * waiting.
   */
  pause: () => Promise<unknown>
  signal: AbortSignal | undefined
}

/**
 * Yields the pages of a room as they arrive. Each poll continues where the previous one ended. Throws the errors of
 * `poll`.
 */
export async function* followPages(
  poll: Poll,
  { since: start, waitForRoom = false, mayHold = () => true, pause, signal }: PagesOptions,
): AsyncGenerator<RoomPage, void, undefined> {
  let since = start
  while (!signal?.aborted) {
    const waitMs = mayHold(since) ? holdMs : 0
    const askedAtMs = Date.now()
    // A missing room that was read before has been removed.
    const isToCome = waitForRoom && (since.sinceCount === 0 || since === pastTheEnd)
    const asked = poll({ ...since, waitMs, limit: pageLines })
    const page = await (isToCome ? asked.catch(orNothingYet) : asked)
    const isUnheld = waitMs > 0 && page.count === since.sinceCount && Date.now() - askedAtMs < idleMs
    since = { sinceCount: page.count, sinceEtag: page.etag }
    yield page
    if (isUnheld) await pause()
  }
}

function orNothingYet(error: unknown): RoomPage {
  if (error instanceof SpaceCallError && error.error === 'not_found') return { etag: '', count: 0, entries: [], policy: 'open' }
  throw error
}

export interface FollowOptions {
  /** Yields only entries with a greater `seq`; 'now': only new entries. Default: all entries. */
  after?: number | 'now' | undefined
  /** Waits for a room that does not exist because it has no message yet. Default: false, which throws NotFoundError. */
  waitForRoom?: boolean | undefined
  /** Ends the iteration without an error. */
  signal?: AbortSignal | undefined
}

/** The room no longer contains the lines that were read: its history was rewritten, or replaced by an older copy. */
export class RewrittenHistoryError extends Error {
  override readonly name = 'RewrittenHistoryError'
}

export interface FollowedRoom {
  poll: Poll
  wait: Wait
}

/**
 * Yields the room's entries as they arrive. While the service is unavailable it retries with growing delays. Throws
 * RewrittenHistoryError, and errors that a retry cannot resolve.
 */
export async function* followRoom(
  { poll, wait }: FollowedRoom,
  { after = -1, waitForRoom = false, signal }: FollowOptions,
): AsyncGenerator<Entry, void, undefined> {
  const nap = napWith(wait, signal)
  const start = after === 'now' ? pastTheEnd : { sinceCount: after + 1, sinceEtag: '' }
  const pages = followPages(pollUntilAnswered({ poll, wait }, signal), {
    since: start,
    waitForRoom,
    // The service does not hold a poll of a room that does not exist. If a service does, a first poll without a wait
    // gives the 404 at once to a caller that does not wait for the room.
    mayHold: (since) => since !== pastTheEnd && (waitForRoom || since.sinceCount > 0),
    pause: () => nap(idleMs),
    signal,
  })
  let since: Since = start
  try {
    for await (const page of pages) {
      if (since !== pastTheEnd) assertContinues(page, since)
      for (const entry of page.entries) {
        if (signal?.aborted) return
        yield entry
      }
      since = { sinceCount: page.count, sinceEtag: page.etag }
    }
  } catch (error) {
    if (!signal?.aborted) throw error
  }
}

/** Ends early, and without an error, when the signal aborts: the next answer is evaluated by itself. */
function napWith(wait: Wait, signal: AbortSignal | undefined): (ms: number) => Promise<void> {
  return (ms) => wait(ms, signal).catch(() => undefined)
}

/** Repeats a poll, with growing delays, while the service is unavailable. */
export function pollUntilAnswered({ poll, wait }: FollowedRoom, signal: AbortSignal | undefined): Poll {
  const nap = napWith(wait, signal)
  return async (from) => {
    for (let failures = 0; ; failures++) {
      try {
        return await poll(from)
      } catch (error) {
        signal?.throwIfAborted()
        if (!isTransient(error)) throw error
        await nap(delayMs(failures, error.retryAfterSeconds))
        signal?.throwIfAborted()
      }
    }
  }
}

/** An answer that starts before the requested position means that the history was replaced. */
function assertContinues({ count, etag, entries }: RoomPage, { sinceCount, sinceEtag }: Since): void {
  const isOther = count === sinceCount && sinceEtag !== '' && etag !== sinceEtag
  if (isOther || count < sinceCount || (entries[0]?.seq ?? sinceCount) < sinceCount)
    throw new RewrittenHistoryError(`The first ${sinceCount} lines of the room are not those that were read`)
}
