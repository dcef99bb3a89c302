import { delayMs, isTransient, type Wait } from './retry.ts'
import { SpaceCallError } from './space-call-error.ts'
import type { Entry, RoomPage } from './space-ops.ts'

/** How long the server is asked to hold its answer. */
const holdMs = 25_000
export const pageLines = 500
/** A held poll that brings nothing and is answered sooner than this was not held. */
const idleMs = 1_000

/** Where a poll goes on from: what the one before it answered. */
export interface Since {
  readonly sinceCount: number
  readonly sinceEtag: string
}

/** Past the end of any room nothing is read, only where it ends. */
export const pastTheEnd: Since = { sinceCount: Number.MAX_SAFE_INTEGER, sinceEtag: '' }

export type Poll = (from: Since & { waitMs: number; limit: number }) => Promise<RoomPage>

interface PagesOptions {
  since: Since
  /** Waits for a room that is not there because nobody has spoken in it yet. Default: false, which throws. */
  waitForRoom?: boolean | undefined
  /** Whether the next poll may be held. Default: each may. */
  mayHold?: (since: Since) => boolean
  /** Waits where the service does not hold polls: of a room that is not there it holds none, nor where it holds enough. */
  pause: () => Promise<unknown>
  signal: AbortSignal | undefined
}

/** The pages of a room as they come: each poll goes on where the one before ended. Throws what `poll` throws. */
export async function* followPages(
  poll: Poll,
  { since: start, waitForRoom = false, mayHold = () => true, pause, signal }: PagesOptions,
): AsyncGenerator<RoomPage, void, undefined> {
  let since = start
  while (!signal?.aborted) {
    const waitMs = mayHold(since) ? holdMs : 0
    const askedAtMs = Date.now()
    // Once something was read of it, a room that is not there was removed.
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
  /** Only entries whose `seq` is greater; 'now': what is said from now on. Default: all, from the beginning. */
  after?: number | 'now' | undefined
  /** Waits for a room that is not there because nobody has spoken in it yet. Default: false, which throws NotFoundError. */
  waitForRoom?: boolean | undefined
  /** Ends it, quietly. */
  signal?: AbortSignal | undefined
}

/** What was read is not in the room any more: its history was rewritten, or an older copy of it has taken its place. */
export class RewrittenHistoryError extends Error {
  override readonly name = 'RewrittenHistoryError'
}

export interface FollowedRoom {
  poll: Poll
  wait: Wait
}

/**
 * The room's entries as they come, for as long as it takes: while the service is away it asks again, less and less often. Throws what asking
 * again does not help against, and RewrittenHistoryError.
 */
export async function* followRoom(
  { poll, wait }: FollowedRoom,
  { after = -1, waitForRoom = false, signal }: FollowOptions,
): AsyncGenerator<Entry, void, undefined> {
  // However it ends, what comes next is looked at anew.
  const nap = (ms: number) => wait(ms, signal).catch(() => undefined)
  const pollUntilAnswered: Poll = async (from) => {
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
  const start = after === 'now' ? pastTheEnd : { sinceCount: after + 1, sinceEtag: '' }
  const pages = followPages(pollUntilAnswered, {
    since: start,
    waitForRoom,
    // The service holds no poll of a room that is not there; one that does tells at once whoever does not wait for it.
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

/** An answer that starts before what was asked for says that the history is another one. */
function assertContinues({ count, etag, entries }: RoomPage, { sinceCount, sinceEtag }: Since): void {
  const isOther = count === sinceCount && sinceEtag !== '' && etag !== sinceEtag
  if (isOther || count < sinceCount || (entries[0]?.seq ?? sinceCount) < sinceCount)
    throw new RewrittenHistoryError(`The first ${sinceCount} lines of the room are not those that were read`)
}
