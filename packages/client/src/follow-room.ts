import { AtriumError } from './atrium-error.ts'
import { delayMs, isPassing, type Wait } from './retry.ts'
import type { Entry, RoomPage } from './room-call.ts'

/** How long the server is asked to hold its answer. */
const holdMs = 25_000
const pageLines = 500
/** Where answers are not held, the room is not asked more often than this. */
const idleMs = 1_000

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

/** Where a poll goes on from: what the one before it answered. */
interface Since {
  sinceCount: number
  sinceEtag: string
}

export interface FollowedRoom {
  poll: (from: Since & { waitMs: number; limit: number }) => Promise<RoomPage>
  wait: Wait
}

/** The room's entries as they come: see `follow` of Room. */
export async function* followRoom(room: FollowedRoom, options: FollowOptions): AsyncGenerator<Entry, void, undefined> {
  const { after = -1, signal } = options
  let since: Since | undefined = after === 'now' ? undefined : { sinceCount: after + 1, sinceEtag: '' }
  while (!signal?.aborted) {
    const askedAt = Date.now()
    const page = await nextPage(room, since, options)
    if (!page) return
    if (since) assertContinues(page, since)
    for (const entry of page.entries) {
      if (signal?.aborted) return
      yield entry
    }
    const isNothingNew = since?.sinceCount === page.count
    since = { sinceCount: page.count, sinceEtag: page.etag }
    if (isNothingNew && Date.now() - askedAt < idleMs) await nap(room, idleMs, signal)
  }
}

/** Asks until there is an answer; undefined: it was ended meanwhile. */
async function nextPage(
  room: FollowedRoom,
  since: Since | undefined,
  { waitForRoom, signal }: FollowOptions,
): Promise<RoomPage | undefined> {
  // Past the end of any room nothing is read, only where it ends.
  const from = since ?? { sinceCount: Number.MAX_SAFE_INTEGER, sinceEtag: '' }
  // The service holds no poll of a room that is not there; one that does tells at once whoever does not wait for it.
  const waitMs = since && (waitForRoom || since.sinceCount > 0) ? holdMs : 0
  for (let failures = 0; !signal?.aborted; failures++) {
    try {
      return await room.poll({ ...from, waitMs, limit: pageLines })
    } catch (error) {
      if (signal?.aborted) return undefined
      if (!(error instanceof AtriumError)) throw error
      // Once something was read of it, a room that is not there was removed.
      const isToCome = waitForRoom && error.code === 'not_found' && (since?.sinceCount ?? 0) === 0
      if (isToCome) return { etag: '', count: 0, entries: [], policy: 'open' }
      if (!isPassing(error)) throw error
      await nap(room, delayMs(failures, error.retryAfterSeconds), signal)
    }
  }
  return undefined
}

/** An answer that starts before what was asked for says that the history is another one. */
function assertContinues({ count, etag, entries }: RoomPage, { sinceCount, sinceEtag }: Since): void {
  const isOther = count === sinceCount && sinceEtag !== '' && etag !== sinceEtag
  if (isOther || count < sinceCount || (entries[0]?.seq ?? sinceCount) < sinceCount)
    throw new RewrittenHistoryError(`The first ${sinceCount} lines of the room are not those that were read`)
}

/** However it ends, what comes next is looked at anew. */
function nap({ wait }: FollowedRoom, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return wait(ms, signal).catch(() => undefined)
}
